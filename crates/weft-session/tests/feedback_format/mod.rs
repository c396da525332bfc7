//! Calls with peers whose feedback names packets by stream (RFC 8888).

use weft_cc::ControllerKind::{Gcc, Scream};
use weft_session::{EcnState, SchedulerKind};
use weft_units::{Duration, Rate};

use super::seconds;
use super::world::{World, link};

#[test]
fn cutting_either_link_leaves_no_visible_gap_without_paths_on_the_wire() {
    for cut in [0, 1] {
        let links = [link("rate=6mbit,delay=15ms"), link("rate=4mbit,delay=35ms")];
        let mut world = World::with_stream_names(4, &links, SchedulerKind::Weft, Gcc);
        world.survives_a_cut(cut);
        for path in [world.path_stats(0), world.path_stats(1)] {
            assert!(path.acknowledged_packets > 50, "cut {cut}");
        }
    }
}

#[test]
fn both_links_are_used_and_measured_without_paths_on_the_wire() {
    let links = [link("rate=2mbit,delay=20ms"), link("rate=2mbit,delay=30ms")];
    let mut world = World::with_stream_names(5, &links, SchedulerKind::Weft, Gcc);
    world.set_max_rate(Rate::from_mbps(8));
    world.run(seconds(30));
    let rate = world.received_rate(seconds(15), seconds(30));
    assert!(rate > Rate::from_kbps(2500), "{rate:?} over 2 + 2 Mbps");
    assert!(rate <= Rate::from_kbps(4000), "{rate:?} over 2 + 2 Mbps");
    assert_eq!(world.sender_drops().stale_feedback, 0);
}

#[test]
fn losses_and_copies_are_found_on_their_path() {
    let links = [
        link("rate=4mbit,delay=20ms,loss=10%"),
        link("rate=4mbit,delay=35ms"),
    ];
    let mut world = World::with_stream_names(11, &links, SchedulerKind::Duplicate, Gcc);
    world.set_max_rate(Rate::from_mbps(1));
    world.run(seconds(20));
    let lost = world.lost_parts();
    assert!((0.07..=0.13).contains(&lost[0]), "bad path: {lost:?}");
    assert!(lost[1] <= 0.01, "good path: {lost:?}");
}

#[test]
fn marks_come_back_by_stream() {
    let links = [link("rate=2mbit,delay=20ms,queue=200ms,aqm=dualpi2")];
    let mut world = World::with_stream_names(1, &links, SchedulerKind::Weft, Scream);
    world.run(seconds(20));
    let path = world.path_stats(0);
    assert_eq!((path.ecn, path.lost_packets), (EcnState::On, 0));
    let (marked, told) = (world.marked_on(0), path.marked_packets);
    assert!(marked > 10, "{marked} marked");
    assert!((told..told + 20).contains(&marked), "{told} of {marked}");
}

#[test]
fn a_browser_reports_sixteen_times_a_second_by_one_path() {
    let links = [link("rate=6mbit,delay=15ms"), link("rate=4mbit,delay=35ms")];
    let mut world = World::with_a_browser(4, &links);
    world.run(seconds(10));
    let reports = |world: &World| [0, 1].map(|link| world.sent_to_sender_on(link));
    let before = reports(&world);
    world.run(seconds(10));
    let after = reports(&world);
    // Sixteen reports a second, plus requests.
    let near = after[0] - before[0];
    assert!((150..=185).contains(&near), "{near}");
    assert_eq!(after[1] - before[1], 0);
    let mut quick = World::with_transport_numbers(4, &links, SchedulerKind::Weft);
    quick.run(seconds(10));
    assert!(reports(&quick).iter().all(|count| *count > 500));
}

/// Janus reports so rarely, requests so seldom, and drops so much that the picture only
/// continues if its first requests are answered.
#[test]
fn a_receiver_that_asks_twice_and_reports_rarely_gets_what_it_lost() {
    let links = [
        link("rate=6mbit,delay=15ms,loss=3%"),
        link("rate=6mbit,delay=20ms,loss=3%"),
    ];
    for seed in 1..=3 {
        let mut world = World::with_janus(seed, &links);
        world.run(seconds(30));
        let stats = world.sender_stats();
        let gap = world.longest_gap(seconds(2), seconds(30));
        let shown = world.frames_between(seconds(2), seconds(30));
        let [asked, ignored] = [stats.nacked, stats.nacks_ignored];
        let call = format!("{gap:?}, {shown} frames, {ignored} of {asked} ignored");
        println!("seed {seed}: {call}");
        assert!(shown >= 740, "{call}");
        assert!(gap <= Duration::from_millis(1200), "{call}");
        assert!(asked >= 40 && ignored * 2 <= asked, "{call}");
    }
}
