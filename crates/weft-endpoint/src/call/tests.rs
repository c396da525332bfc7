use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use weft_session::PathState;
use weft_units::PathId;

use super::event_sender::{WAITING_EVENTS, event_channel};
use super::fault::OngoingFault;
use super::inbox::{Frames, WAITING_FRAMES};
use super::request_queue::RequestQueue;
use crate::event::Event;
use crate::links::{LinkChange, LinkStates};

#[test]
fn a_desk_whose_request_hangs_refuses_what_is_too_much_and_holds_nobody_up() {
    let mut queue = RequestQueue::start(1);
    let (release, hung) = channel::<()>();
    let (begun, begins) = channel();
    assert!(queue.push(move || {
        let _ = begun.send(());
        let _ = hung.recv();
    }));
    begins.recv().expect("the first request begins");
    let (done, second) = channel();
    assert!(queue.push(move || done.send(()).expect("the test waits")));
    assert!(!queue.push(|| unreachable!("there is no room for a third")));
    assert_eq!(queue.refused(), 1);
    drop(release);
    second.recv().expect("the second request is done");
    queue.close(Duration::from_secs(5));
}

#[test]
fn closing_a_desk_that_hangs_takes_no_longer_than_it_may() {
    let mut queue = RequestQueue::start(1);
    let (release, hung) = channel::<()>();
    queue.push(move || {
        let _ = hung.recv();
    });
    let before = Instant::now();
    queue.close(Duration::from_millis(50));
    assert!(before.elapsed() < Duration::from_secs(1));
    drop(release);
}

#[test]
fn frames_that_nobody_takes_are_counted_as_drops() {
    let frames = Frames::default();
    let admitted = (0..WAITING_FRAMES + 10).filter(|_| frames.admit(1_000));
    assert_eq!(admitted.count(), WAITING_FRAMES);
    assert_eq!(frames.dropped(), 10);
    frames.release(1_000);
    assert!(frames.admit(1_000));
    assert!(!frames.admit(1_000));
    assert_eq!(frames.dropped(), 11);
}

#[test]
fn large_frames_that_nobody_takes_are_dropped_before_they_are_many() {
    let frames = Frames::default();
    let admitted = (0..100).filter(|_| frames.admit(1 << 20)).count();
    assert_eq!(admitted, 16);
    frames.drop_one(1 << 20);
    assert!(frames.admit(1 << 20));
    assert!(!frames.admit(1));
}

#[test]
fn a_fault_is_news_once_and_its_end_says_how_long_it_was() {
    let start = Instant::now();
    let after = |s| start + Duration::from_secs(s);
    let mut fault = OngoingFault::default();
    assert_eq!(fault.ends(start), None);
    assert!(fault.begins(start, "unreachable"));
    assert!(!fault.begins(after(1), "unreachable"));
    assert!(fault.begins(after(2), "refused"));
    assert_eq!(fault.ends(after(9)), Some(Duration::from_secs(9)));
    assert_eq!(fault.ends(after(10)), None);
}

#[test]
fn a_link_is_down_when_its_last_path_is_and_the_last_link_is_said_to_be() {
    let start = Instant::now();
    let after = |s| start + Duration::from_secs(s);
    let mut link_states = LinkStates::default();
    let mut on = |at, path, link, state| link_states.on_path(at, PathId(path), link, state);
    assert_eq!(on(start, 0, "wifi", PathState::Up), Some(LinkChange::Up));
    assert_eq!(on(start, 1, "wifi", PathState::Up), None);
    assert_eq!(on(start, 2, "lte", PathState::Up), Some(LinkChange::Up));
    assert_eq!(on(after(1), 0, "wifi", PathState::Down), None);
    assert_eq!(
        on(after(1), 1, "wifi", PathState::Down),
        Some(LinkChange::Down)
    );
    assert_eq!(
        on(after(2), 2, "lte", PathState::Down),
        Some(LinkChange::AllDown)
    );
    assert_eq!(on(after(3), 2, "lte", PathState::Down), None);
    let again = LinkChange::Again {
        down: Duration::from_secs(120),
    };
    assert_eq!(on(after(121), 1, "wifi", PathState::Up), Some(again));
}

#[test]
fn a_link_is_suspect_when_all_its_paths_are_and_until_one_answers() {
    let now = Instant::now();
    let mut link_states = LinkStates::default();
    let mut on = |path, state| link_states.on_path(now, PathId(path), "wifi", state);
    assert_eq!(on(0, PathState::Up), Some(LinkChange::Up));
    assert_eq!(on(1, PathState::Up), None);
    assert_eq!(on(0, PathState::Suspect), None);
    assert_eq!(on(1, PathState::Suspect), Some(LinkChange::Suspect));
    assert_eq!(on(1, PathState::Suspect), None);
    assert_eq!(on(0, PathState::Up), Some(LinkChange::Trusted));
    assert_eq!(on(0, PathState::Down), Some(LinkChange::Suspect));
    assert_eq!(on(1, PathState::Down), Some(LinkChange::AllDown));
}

#[test]
fn dropped_events_are_counted_and_reported_before_the_next_one() {
    let (sender, heard) = event_channel();
    let told = (0..WAITING_FRAMES + WAITING_EVENTS + 3).filter(|_| sender.send(Event::RoomSilent));
    assert_eq!(told.count(), WAITING_FRAMES + WAITING_EVENTS);
    heard.recv().expect("one that waits");
    assert!(
        !sender.send(Event::RoomSilent),
        "there is room for the count only"
    );
    for _ in 1..WAITING_FRAMES + WAITING_EVENTS {
        assert!(matches!(heard.recv(), Ok(Event::RoomSilent)));
    }
    assert!(sender.send(Event::RoomSilent));
    assert!(matches!(heard.recv(), Ok(Event::Missed { events: 3 })));
    assert!(matches!(heard.recv(), Ok(Event::Missed { events: 1 })));
    assert!(matches!(heard.recv(), Ok(Event::RoomSilent)));
    drop(heard);
    assert!(sender.send(Event::RoomSilent), "nobody misses anything");
}
