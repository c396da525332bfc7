//! Peers that request lost packets, but do not support RTX: MediaMTX, Galene, Janus, and
//! GStreamer with its default offer.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use weft_session::{Level, SchedulerKind};
use weft_units::{Duration, Instant, Rate};

use crate::common::TestCall;
use crate::wires::{Libnice, is_rtcp};
use crate::world::{Setup, World};
use crate::{seconds, without_line};

/// Gives RTX the payload type of an unknown codec, so that the answerer cannot use it.
fn without_rtx(sdp: &str) -> String {
    let text = sdp.replace(" rtx/90000", " unknown/90000");
    assert_ne!(text, sdp, "no RTX in it");
    without_line(&text, "flexfec")
}

fn without_paths(sdp: &str) -> String {
    without_line(&without_rtx(sdp), "urn:weft:rtp-hdrext:path")
}

fn by_streams(sdp: &str) -> String {
    without_line(&without_paths(sdp), "transport-wide-cc")
}

fn reports_only(sdp: &str) -> String {
    without_line(&by_streams(sdp), "ack ccfb")
}

type Edit = fn(String) -> String;

/// Every level, without RTX.
const LEVELS: [(&str, Level, Edit); 4] = [
    ("paths", Level::Full, |s| without_rtx(&s)),
    ("transport", Level::SenderSide, |s| without_paths(&s)),
    ("streams", Level::SenderSide, |s| by_streams(&s)),
    ("reports", Level::Single, |s| reports_only(&s)),
];

fn call(seed: u64, links: &[&'static str], scheduler: SchedulerKind, edit_offer: Edit) -> World {
    let mut world = World::new(&Setup {
        edit_offer,
        scheduler,
        ..Setup::new(seed, links)
    });
    world.run(seconds(20));
    world
}

/// Total time in gaps of more than 200 ms between frames.
fn in_gaps(world: &World, from: Instant) -> Duration {
    let shown = world.record().shown.iter().map(|s| s.at);
    let times: Vec<Instant> = shown.filter(|at| *at >= from).collect();
    let gaps = times.windows(2).map(|w| w[1] - w[0]);
    let long = gaps.filter(|g| *g > Duration::from_millis(200));
    long.fold(Duration::ZERO, |sum, gap| sum + gap)
}

#[test]
fn lost_packets_are_sent_again_at_every_level() {
    for (name, level, edit) in LEVELS {
        for seed in 1..=3 {
            let links = ["rate=6mbit,delay=20ms,loss=3%"];
            let world = call(seed, &links, SchedulerKind::default(), edit);
            let stats = world.sender().session().stats();
            assert_eq!(world.sender().session().level(), level);
            let [again, asked] = [stats.senders[0].retransmissions, stats.senders[0].nacked];
            let lost = stats.senders[0].packets / 33;
            let shown = world.record().shown.len();
            let gaps = in_gaps(&world, Instant::ZERO + seconds(1));
            println!(
                "{name}: {shown} frames, {again} again of about {lost}, {asked} asked for, {gaps:?}, {:?}",
                stats.target_rate
            );
            assert!(shown >= 570, "{name}, seed {seed}: {shown} frames of 600");
            assert!(gaps <= Duration::from_secs(1), "{name}: {gaps:?} in gaps");
            assert!(
                again >= u64::from(lost) / 2,
                "{name}: {again} of {lost} sent again"
            );
            assert!(
                again <= u64::from(lost) * 3,
                "{name}: {again} of {lost} sent again"
            );
        }
    }
}

/// A second encryption under one number would reveal the key stream.
#[test]
fn a_number_has_one_ciphertext() {
    for (name, _, edit_offer) in LEVELS {
        let links = [
            "rate=6mbit,delay=20ms,loss=3%",
            "rate=4mbit,delay=30ms,loss=3%",
        ];
        let mut world = World::new(&Setup {
            edit_offer,
            ..Setup::new(7, &links)
        });
        world.wires.sent = Some(Vec::new());
        world.run(seconds(10));
        world.cut(0);
        world.run(seconds(5));
        let mut by_number: BTreeMap<(u32, u16), Vec<u8>> = BTreeMap::new();
        let mut again = 0;
        for (_, datagram) in world.wires.sent.take().expect("it was set") {
            if is_rtcp(&datagram) || !(128..192).contains(&datagram[0]) {
                continue;
            }
            let header = weft_wire::rtp::peek(&datagram).expect("RTP");
            let number = (header.ssrc.0, header.sequence);
            match by_number.entry(number) {
                Entry::Occupied(first) => {
                    assert!(
                        *first.get() == datagram,
                        "{name}: {number:?} was encrypted twice"
                    );
                    again += 1;
                }
                Entry::Vacant(place) => {
                    place.insert(datagram);
                }
            }
        }
        println!("{name}: {again} of {} again", by_number.len());
        assert!(again > 50, "{name}: {again} of {} again", by_number.len());
    }
}

#[test]
fn every_scheduler_keeps_its_rate_and_its_picture() {
    let links = [
        "rate=6mbit,delay=15ms,loss=2%",
        "rate=4mbit,delay=25ms,loss=1%",
    ];
    for scheduler in SchedulerKind::ALL {
        for (name, _, edit) in LEVELS {
            let mut world = call(11, &links, scheduler, edit);
            let shown = world.record().shown.len();
            let before = world.sender().session().target_rate();
            let cut_at = world.now();
            world.cut(0);
            world.run(seconds(3));
            let gap = world.record().longest_gap(cut_at, world.now());
            let call = format!("{scheduler:?} by {name}: {shown} frames, {before:?}, {gap:?}");
            println!("{call}");
            assert!(shown >= 585, "{call}");
            assert!(before >= Rate::from_kbps(1500), "{call}");
            // Without feedback on each packet, only the checks reveal a failure, and a
            // migration waits for its connection.
            let waits = name == "reports" || scheduler == SchedulerKind::Migrate;
            let most = match scheduler {
                _ if waits => 3_000,
                // In 24 seeds, 0.7 s on average and 1.2 s at most.
                SchedulerKind::Duplicate => 1_500,
                _ => 750,
            };
            assert!(gap <= Duration::from_millis(most), "{call}");
        }
    }
}

/// Janus logs a replayed report as an error.
#[test]
fn a_report_goes_twice_under_two_indices_to_peers_that_know_no_paths() {
    let copies = |edit_offer: Edit| {
        let mut world = World::new(&Setup {
            edit_offer,
            ..Setup::new(9, &["rate=6mbit,delay=15ms", "rate=6mbit,delay=20ms"])
        });
        world.wires.sent = Some(Vec::new());
        world.run(seconds(10));
        let sent = world.wires.sent.take().expect("it was set").into_iter();
        let mut reports: Vec<Vec<u8>> = sent.map(|(_, d)| d).filter(|d| is_rtcp(d)).collect();
        let all = reports.len();
        assert!(all >= 10, "{all} reports in 10 s");
        reports.sort();
        reports.dedup();
        all - reports.len()
    };
    assert!(copies(|s| s) > 3, "weft gets the same bytes twice");
    assert_eq!(copies(|s| without_paths(&s)), 0);
}

/// Call with a peer on libnice, whose reports are sent only on the nominated pair, even
/// when it has failed.
fn with_libnice() -> World {
    let mut world = World::new(&Setup {
        edit_offer: |s| without_paths(&s),
        ..Setup::new(12, &["rate=6mbit,delay=15ms", "rate=6mbit,delay=20ms"])
    });
    let described = [0, 1].map(|link| world.wires.spoke(link));
    world.wires.libnice = Some(Libnice::new(described));
    world.run(seconds(10));
    let before = world.sender().session().target_rate();
    assert!(before >= Rate::from_mbps(2), "{before:?}");
    world
}

#[test]
fn a_peer_whose_feedback_is_gone_keeps_a_picture_and_recovers() {
    let mut world = with_libnice();
    world.opens_sockets = false;
    world.cut(0);
    for _ in 0..6 {
        let from = world.now();
        world.run(seconds(5));
        let rate = world.sender().session().target_rate();
        let shown = world.record().shown_between(from, world.now());
        println!("without feedback: {rate:?}, {shown} frames in 5 s");
        assert!(rate >= Rate::from_kbps(250), "{rate:?}");
        assert!(shown >= 100, "{shown} frames in 5 s");
    }
    world.restore(0);
    world.run(seconds(5));
    let rate = world.sender().session().target_rate();
    assert!(rate >= Rate::from_mbps(2), "{rate:?} after the return");
}

/// One of two links fails, six times, while the peer ignores second nominations.
#[test]
fn a_peer_that_stays_with_a_dead_pair_is_moved_to_a_new_one() {
    let mut world = with_libnice();
    for turn in 0..6 {
        let dead = turn % 2;
        world.cut(dead);
        world.run(seconds(6));
        let rate = world.sender().session().target_rate();
        println!("turn {turn}: {rate:?}");
        assert!(rate >= Rate::from_mbps(1), "turn {turn}: {rate:?}");
        let alive = world.wires.spoke(1 - dead).ip();
        let libnice = world.wires.libnice.as_ref().expect("it was set");
        assert_eq!(libnice.selected().map(|a| a.ip()), Some(alive));
        world.restore(dead);
        world.run(seconds(3));
    }
}
