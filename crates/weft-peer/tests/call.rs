//! Calls of two complete peers in virtual time: descriptions as text, ICE, DTLS and SRTP,
//! over links of `weft-links`.

mod capture;
mod changes;
mod common;
mod data;
mod interop;
mod limit;
mod outage;
mod repeats;
mod wires;
mod world;

use common::{Allowance, Side, TestCall, survives_a_cut};
use weft_session::{FeedbackFormat, Level, PathState, SchedulerKind};
use weft_units::{Duration, Instant};
use wires::Family;
use world::{Setup, World};

const EXACT: Allowance = Allowance {
    time: Duration::ZERO,
    frames: 0.95,
};

/// Allowances for the cut of the link with the media, and of the link with only probes:
/// those are four a second, so its silence is noticed up to 250 ms later.
const WITH_MEDIA: [Allowance; 2] = [
    EXACT,
    Allowance {
        time: Duration::from_millis(200),
        ..EXACT
    },
];

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn two_links(seed: u64) -> Setup {
    Setup::new(seed, &["rate=6mbit,delay=15ms", "rate=4mbit,delay=20ms"])
}

fn live_paths(world: &World) -> usize {
    let stats = world.sender().session().stats();
    let up = stats.paths.iter().filter(|p| p.state == PathState::Up);
    up.count()
}

/// Share of link 0 in the delivered bytes.
fn share_of_first(world: &World) -> f64 {
    let bytes = world.wires.delivered();
    bytes[0].0 as f64 / bytes.iter().map(|(up, _)| up).sum::<u64>() as f64
}

#[test]
fn a_call_over_two_links_is_full_and_uses_both() {
    let mut world = World::new(&two_links(1));
    world.run(seconds(10));
    assert_eq!(world.sender().session().level(), Level::Full);
    assert_eq!(world.receiver().session().level(), Level::Full);
    let shown = world.record().shown_between(Instant::ZERO, world.now());
    assert!((285..=300).contains(&shown), "{shown} frames in 10 s");
    let share = share_of_first(&world);
    // The near link has room for everything. The other one gets its probes, and copies of
    // all pictures while a danger is remembered.
    assert!((0.45..=0.99).contains(&share), "link 0 carried {share}");
    let latency = world.record().latency(0.95);
    let least = Duration::from_millis(15);
    assert!(
        latency > least && latency < Duration::from_millis(100),
        "p95 {latency:?}"
    );
    let sent = world.sender().session().stats().senders[0];
    assert!(sent.nacked < 20, "{} NACKed", sent.nacked);
}

/// On the slower link, every packet arrives after its copy, and SRTP drops it as a replay.
#[test]
fn a_packet_whose_copy_was_quicker_is_not_lost() {
    let mut world = World::new(&Setup {
        scheduler: SchedulerKind::Duplicate,
        ..two_links(1)
    });
    world.run(seconds(10));
    for path in world.sender().session().stats().paths {
        let [sent, lost] = [path.sent_packets, path.lost_packets];
        assert!(sent > 500, "path {:?}: {sent} packets", path.path);
        assert_eq!(lost, 0, "path {:?}: of {sent} packets", path.path);
    }
    let stats = world.receiver().session().stats();
    let shown = world.record().shown.len();
    assert!((285..=300).contains(&shown), "{shown} frames in 10 s");
    assert!(stats.receivers[0].1.packets.duplicate > 1000);
}

#[test]
fn cutting_either_link_is_found_in_time_and_leaves_no_visible_gap() {
    for cut in [0, 1] {
        for seed in 100..108 {
            survives_a_cut(&mut World::new(&two_links(seed)), cut, WITH_MEDIA[cut]);
        }
    }
}

#[test]
fn lossy_and_crowded_links_are_hardly_ever_taken_for_dead() {
    let links = [
        "rate=1mbit,delay=20ms,loss=5%,queue=300ms",
        "rate=700kbit,delay=50ms,loss=2%,queue=300ms,jitter=5ms",
    ];
    // A queue that fills within a round trip can hide a path for longer than the time to
    // a verdict. That is rare, and the path is back with the next check.
    let mut mistaken = 0;
    for seed in 200..220 {
        let mut world = World::new(&Setup::new(seed, &links));
        world.run(seconds(20));
        let down = world.record().path_down(Side::Sender, Instant::ZERO);
        mistaken += u32::from(down.is_some());
    }
    assert!(mistaken <= 1, "{mistaken} of 20 calls lost a living path");
}

#[test]
fn a_sender_that_answers_survives_a_cut_as_well() {
    let setup = Setup {
        offerer: Side::Receiver,
        ..two_links(5)
    };
    survives_a_cut(&mut World::new(&setup), 0, EXACT);
}

#[test]
fn a_call_over_ipv6_survives_a_cut() {
    let setup = Setup {
        family: Family::V6,
        ..two_links(6)
    };
    survives_a_cut(&mut World::new(&setup), 0, EXACT);
}

#[test]
fn an_address_added_in_mid_call_becomes_a_path_and_takes_over() {
    let mut world = World::new(&Setup::new(7, &["rate=3mbit,delay=20ms"]));
    world.run(seconds(3));
    assert_eq!(live_paths(&world), 1);
    let added_at = world.now();
    world.add_link("rate=5mbit,delay=30ms");
    world.run(seconds(3));
    let up = world.record().path_up(Side::Sender, added_at);
    let up = up.expect("the new address is a path") - added_at;
    assert!(up <= Duration::from_millis(100), "a path after {up:?}");
    assert_eq!(live_paths(&world), 2);
    let share = share_of_first(&world);
    assert!((0.1..=0.9).contains(&share), "link 0 carried {share}");
    let removed_at = world.now();
    world.remove_link(0);
    world.run(seconds(3));
    assert_eq!(live_paths(&world), 1);
    let gap = world.record().longest_gap(removed_at, world.now());
    assert!(gap <= Duration::from_millis(250), "no frame for {gap:?}");
}

fn without_line(sdp: &str, mark: &str) -> String {
    let kept = sdp.split_inclusive('\n').filter(|l| !l.contains(mark));
    let text: String = kept.collect();
    assert!(text.len() < sdp.len(), "{mark} was not in {sdp}");
    text
}

#[test]
fn a_peer_that_knows_no_paths_is_served_over_both_and_survives_a_cut() {
    let setup = Setup {
        edit_offer: |sdp| without_line(&sdp, "urn:weft:rtp-hdrext:path"),
        ..two_links(8)
    };
    for cut in [0, 1] {
        let mut world = World::new(&setup);
        survives_a_cut(&mut world, cut, WITH_MEDIA[cut]);
        assert_eq!(world.sender().session().level(), Level::SenderSide);
        let share = share_of_first(&world);
        assert!((0.2..=0.99).contains(&share), "link 0 carried {share}");
    }
}

#[test]
fn a_peer_with_congestion_feedback_alone_is_served_over_both_and_survives_a_cut() {
    let setup = Setup {
        edit_offer: |sdp| {
            let sdp = without_line(&sdp, "urn:weft:rtp-hdrext:path");
            without_line(&sdp, "transport-wide-cc")
        },
        ..two_links(8)
    };
    for cut in [0, 1] {
        let mut world = World::new(&setup);
        survives_a_cut(&mut world, cut, WITH_MEDIA[cut]);
        assert_eq!(world.sender().session().level(), Level::SenderSide);
        assert_eq!(
            world.sender().session().feedback_format(),
            FeedbackFormat::Stream
        );
        let share = share_of_first(&world);
        assert!((0.2..=0.99).contains(&share), "link 0 carried {share}");
    }
}

#[test]
fn a_peer_without_feedback_on_each_packet_is_served_over_one_path() {
    let setup = Setup {
        edit_offer: |sdp| {
            let sdp = without_line(&sdp, "urn:weft:rtp-hdrext:path");
            let sdp = without_line(&sdp, "transport-wide-cc");
            without_line(&sdp, "ack ccfb")
        },
        ..two_links(9)
    };
    let mut world = World::new(&setup);
    world.run(seconds(5));
    assert_eq!(world.sender().session().level(), Level::Single);
    let shown = world.record().shown_between(Instant::ZERO, world.now());
    assert!((135..=150).contains(&shown), "{shown} frames in 5 s");
    let share = share_of_first(&world);
    let less = share.min(1.0 - share);
    assert!(less < 0.02, "the other link carried {less}");
}

#[test]
fn the_first_frame_is_there_a_few_round_trips_after_the_answer() {
    // The offerer starts the handshake. These sides check each other at once; a server
    // waits for its peer's check, and loses no time by that.
    for (offerer, least, most) in [(Side::Sender, 2.4, 2.9), (Side::Receiver, 2.9, 3.4)] {
        for (rtt_ms, link) in [
            (100, "rate=100mbit,delay=50ms"),
            (200, "rate=100mbit,delay=100ms"),
            (300, "rate=100mbit,delay=150ms"),
        ] {
            let setup = Setup {
                offerer,
                ..Setup::new(10, &[link])
            };
            let mut world = World::new(&setup);
            world.run(seconds(5));
            let record = world.record();
            let trips =
                |at: Instant| (at - Instant::ZERO).as_secs_f64() / world.wires.rtt().as_secs_f64();
            let connected = |side| {
                let which = |e: &_| matches!(e, weft_secure::Event::Connected { .. });
                trips(
                    record
                        .first_event(side, Instant::ZERO, which)
                        .expect("connected"),
                )
            };
            let first = trips(record.shown[0].at);
            println!(
                "offer by {offerer:?}, RTT {rtt_ms} ms: sender connected after {:.2}, receiver \
                 after {:.2}, first frame after {first:.2} round trips",
                connected(Side::Sender),
                connected(Side::Receiver)
            );
            assert_eq!(record.shown[0].number, 0, "the first frame sent is shown");
            assert!(
                (least..=most).contains(&first),
                "offer by {offerer:?}, RTT {rtt_ms} ms: {first} round trips"
            );
        }
    }
}
