use weft_units::{Bytes, Duration, Instant, PathId, Rate, StreamId};

use super::{Assignment, Batch, Class, PathView, SKEW_CAP, Scheduler, SchedulerKind};

fn view(id: u8, kbps: u64, delay_ms: u64) -> PathView {
    PathView {
        id: PathId(id),
        rate: Rate::from_kbps(kbps),
        delay: Duration::from_millis(delay_ms),
        queued: Bytes::ZERO,
        srtt: Duration::from_millis(40 + 2 * delay_ms),
        loss: 0.0,
        delivered: None,
        in_flight: Bytes::ZERO,
    }
}

fn assign(
    scheduler: &mut dyn Scheduler,
    class: Class,
    packets: usize,
    paths: &[PathView],
) -> Vec<Assignment> {
    let batch = Batch {
        stream: StreamId(0),
        class,
        classes: &vec![class; packets],
        sizes: &vec![Bytes(1200); packets],
        made_for: None,
    };
    scheduler.assign(Instant::ZERO, &batch, paths)
}

fn bytes_on(assignments: &[Assignment], path: u8) -> u64 {
    1200 * assignments
        .iter()
        .filter(|a| a.path == PathId(path))
        .count() as u64
}

#[test]
fn completion_time_is_transmission_of_all_that_waits_plus_delay() {
    let mut path = view(0, 1000, 20);
    path.queued = Bytes(1250);
    // 2,500 bytes at 1 Mbps take 20 ms, and 20 ms of delay.
    assert_eq!(path.completion(Bytes(1250)), Duration::from_millis(40));
}

#[test]
fn delta_frames_are_shared_in_proportion_to_the_rates() {
    // Seed 004 section 4.1: 15 and 5 Mbps share 40 packets as 30 and 10.
    let paths = [view(0, 15_000, 0), view(1, 5_000, 5)];
    let mut scheduler = SchedulerKind::Converge.build();
    let all: Vec<Assignment> = (0..100)
        .flat_map(|_| assign(scheduler.as_mut(), Class::Delta, 8, &paths))
        .collect();
    let share = bytes_on(&all, 0) as f64 / (1200.0 * all.len() as f64);
    assert!((0.72..=0.78).contains(&share), "path 0 got {share}");
}

#[test]
fn small_frames_stay_whole() {
    let paths = [view(0, 4_000, 0), view(1, 4_000, 10)];
    let mut scheduler = SchedulerKind::Converge.build();
    for _ in 0..50 {
        let frame = assign(scheduler.as_mut(), Class::Delta, 3, &paths);
        let on_first = bytes_on(&frame, 0);
        assert!(
            on_first == 0 || on_first == 3600,
            "split a small frame: {frame:?}"
        );
    }
}

#[test]
fn a_keyframe_takes_the_fast_path_and_flows_over_when_it_is_full() {
    let paths = [view(0, 2_000, 0), view(1, 2_000, 30)];
    let mut scheduler = SchedulerKind::Converge.build();
    // 1,200 bytes take 4.8 ms: six fit into the 30 ms that path 0 is ahead.
    let small = assign(scheduler.as_mut(), Class::Keyframe, 6, &paths);
    assert_eq!(bytes_on(&small, 1), 0);
    let large = assign(scheduler.as_mut(), Class::Keyframe, 40, &paths);
    let behind = bytes_on(&large, 1) / 1200;
    // 40 packets, equal rates, 30 ms apart: 23 and 17.
    assert!(
        (16..=18).contains(&behind),
        "{behind} packets on the slow path"
    );
}

#[test]
fn a_path_beyond_the_skew_cap_gets_no_delta_frames() {
    let late = SKEW_CAP.as_millis() + 20;
    let paths = [view(0, 1_000, 0), view(1, 8_000, late)];
    let mut scheduler = SchedulerKind::Converge.build();
    let frame = assign(scheduler.as_mut(), Class::Delta, 4, &paths);
    assert_eq!(bytes_on(&frame, 1), 0);
    let within = [view(0, 1_000, 0), view(1, 8_000, late - 40)];
    let frame = assign(scheduler.as_mut(), Class::Delta, 4, &within);
    assert!(bytes_on(&frame, 1) > 0);
}

#[test]
fn audio_goes_on_two_paths_and_video_never_does() {
    let paths = [view(0, 1_000, 0), view(1, 1_000, 10), view(2, 1_000, 20)];
    let mut scheduler = SchedulerKind::Converge.build();
    let audio = assign(scheduler.as_mut(), Class::Audio, 1, &paths);
    assert_eq!(
        audio[0],
        Assignment {
            path: PathId(0),
            copies: vec![PathId(1)]
        }
    );
    let video = assign(scheduler.as_mut(), Class::Delta, 9, &paths);
    assert!(video.iter().all(|a| a.copies.is_empty()));
}

#[test]
fn duplicate_sends_everything_everywhere_and_numbers_in_turn() {
    let paths = [view(0, 1_000, 0), view(1, 3_000, 10)];
    let mut scheduler = SchedulerKind::Duplicate.build();
    let frame = assign(scheduler.as_mut(), Class::Delta, 10, &paths);
    assert!(
        frame
            .iter()
            .all(|a| a.copies.len() == 1 && a.copies[0] != a.path)
    );
    assert_eq!(bytes_on(&frame, 0), 6000);
    assert_eq!(scheduler.rate(&paths), Rate::from_mbps(3));
}

#[test]
fn single_stays_where_it_is_while_its_path_lives() {
    let mut scheduler = SchedulerKind::Single.build();
    let both = [view(0, 1_000, 50), view(1, 9_000, 0)];
    assert_eq!(
        bytes_on(&assign(scheduler.as_mut(), Class::Delta, 2, &both), 0),
        2400
    );
    let second = [view(1, 9_000, 0)];
    assert_eq!(
        bytes_on(&assign(scheduler.as_mut(), Class::Delta, 2, &second), 1),
        2400
    );
    assert_eq!(
        bytes_on(&assign(scheduler.as_mut(), Class::Delta, 2, &both), 1),
        2400
    );
}

#[test]
fn names_parse_back() {
    for kind in SchedulerKind::ALL {
        assert_eq!(kind.name().parse::<SchedulerKind>().ok(), Some(kind));
    }
    let error = "best".parse::<SchedulerKind>().map_err(|e| e.to_string());
    assert_eq!(
        error,
        Err(
            "no scheduler is called `best`; there are: single, duplicate, converge, weft"
                .to_owned()
        )
    );
}
