//! A publisher and its players through the plane of a server, in virtual time:
//! descriptions as text, ICE, DTLS, SRTP, over links of `weft-links`.

#[allow(dead_code)]
#[path = "../../../weft-peer/tests/common/mod.rs"]
mod common;
mod handshake;
#[allow(dead_code)]
#[path = "../../../weft-peer/tests/wires/mod.rs"]
mod wires;
mod world;

use common::FRAME_INTERVAL;
use weft_forwarding::{Event, Publisher};
use weft_units::{Duration, Instant};
use world::Room;

const PLAYERS: usize = 20;
/// What players' links lose, four of each.
const LINKS: [&str; 5] = [
    "rate=10mbit,delay=10ms",
    "rate=6mbit,delay=20ms,loss=1%",
    "rate=4mbit,delay=40ms,loss=2%,jitter=3ms",
    "rate=8mbit,delay=30ms,loss=3%",
    "rate=3mbit,delay=60ms,loss=1%",
];

fn seconds(n: u64) -> Duration {
    Duration::from_secs(n)
}

fn ada() -> Publisher {
    Publisher {
        room: "r".to_owned(),
        participant: "ada".to_owned(),
    }
}

/// A publisher, and twenty players who come one by one within two seconds; ten
/// seconds more with all of them.
fn full_room(seed: u64) -> Room {
    let players = LINKS.iter().cycle().take(PLAYERS);
    let publisher = ["rate=8mbit,delay=15ms,loss=1%"];
    let links: Vec<&str> = publisher.iter().chain(players).copied().collect();
    let mut room = Room::new(seed, &links);
    room.publish(&ada());
    room.run(seconds(1));
    for player in 0..PLAYERS {
        match player % 2 {
            0 => room.play(&ada()),
            _ => room.play_offered(&ada()),
        }
        room.run(Duration::from_millis(100));
    }
    room.run(seconds(10));
    room
}

/// Packets that the plane sent to its players again.
fn repairs(room: &Room) -> u64 {
    let peers = room.plane.peers().iter();
    let stats = peers.flat_map(|(_, peer)| peer.session().stats().senders);
    stats.map(|sender| sender.retransmissions).sum()
}

#[test]
fn twenty_players_see_the_publisher_over_links_that_lose_packets() {
    let room = full_room(1);
    let connected = |event: &&Event| matches!(event, Event::Connected { .. });
    assert_eq!(room.events.iter().filter(connected).count(), PLAYERS + 1);
    assert_eq!(room.events.len(), PLAYERS + 1, "{:?}", room.events);

    let (from, to) = (Instant::ZERO + seconds(4), room.now);
    let captured = ((to - from).as_secs_f64() * 30.0) as usize;
    for (place, player) in room.clients[1..].iter().enumerate() {
        let shown = player.record.shown_between(from, to);
        assert!(
            (captured - 5..=captured + 5).contains(&shown),
            "player {place} saw {shown} frames of {captured}"
        );
        // A packet that is sent again comes a round trip later.
        let gap = player.record.longest_gap(from, to);
        let most = Duration::from_millis(300);
        assert!(
            gap > FRAME_INTERVAL && gap < most,
            "player {place} saw nothing for {gap:?}"
        );
    }
    let stats = room.plane.stats();
    assert_eq!((stats.publications, stats.playbacks), (1, PLAYERS as u64));
    assert_eq!(stats.datagrams_dropped, 0);
    assert_eq!(stats.packets_thinned, 0, "all of it fits every link");
    // Links lose 1.4 % in the mean, copies of what is lost included.
    let part = repairs(&room) as f64 / stats.packets_forwarded as f64;
    assert!((0.010..=0.018).contains(&part), "{part} sent again");
}

/// Each of twenty who come needs a keyframe, and they come ten in a second:
/// those who come close together share one.
#[test]
fn keyframe_requests_of_many_players_are_merged() {
    let room = full_room(1);
    let asked = room.plane.stats().keyframe_requests;
    assert!((2..=10).contains(&asked), "asked for {asked} keyframes");
    // A request is repeated until a keyframe comes, and merged with it.
    let heard = room.clients[0].camera().keyframes_asked;
    assert!((1..=asked).contains(&heard), "{heard} of {asked} requests");
}

#[test]
fn a_room_repeats_byte_by_byte_and_another_seed_is_another_run() {
    let [first, again, other] = [1, 1, 2].map(|seed| {
        let room = full_room(seed);
        (room.digest(), room.datagrams)
    });
    assert_eq!(first, again);
    assert_ne!(first.0, other.0);
}
