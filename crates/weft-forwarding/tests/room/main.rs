//! Publisher and its players through a server's plane, in virtual time: descriptions as
//! text, ICE, DTLS and SRTP, over links of `weft-links`.

#[allow(dead_code)]
#[path = "../../../weft-peer/tests/common/mod.rs"]
mod common;

mod client;
mod cost;
mod crowded;
mod limits;
mod newcomer;
mod planes;
mod reception;
mod recording;
mod requests;
mod restart;
mod topics;
mod weak;
#[allow(dead_code)]
#[path = "../../../weft-peer/tests/wires/mod.rs"]
mod wires;
mod world;

use common::FRAME_INTERVAL;
use weft_forwarding::{Event, Publisher};
use weft_secure::testing;
use weft_testing::allocation::Counting;
use weft_units::{Codec, Duration, Instant, Rate};
use weft_wire::payload::{
    Form,
    h264::{self, Profile},
};
use world::Room;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const PLAYERS: usize = 20;
/// Links of the players, each for four.
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

/// A publisher, and twenty players who join one by one within two seconds; then ten
/// seconds with all of them.
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

/// Number of retransmissions from the plane to its players.
fn repairs(room: &Room) -> u64 {
    let peers = room.plane.peers().iter();
    let stats = peers.flat_map(|(_, peer)| peer.session().stats().senders);
    stats.map(|sender| sender.retransmissions).sum()
}

/// Reason for the end of the last connection.
fn ended(room: &Room) -> &str {
    match room.events.last() {
        Some(Event::Ended { reason, .. }) => reason,
        other => panic!("nothing ended last, but {other:?}"),
    }
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
        // A retransmission arrives a round trip later.
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
    // Links lose 1.4 % on average, including copies of lost packets.
    let part = repairs(&room) as f64 / stats.packets_forwarded as f64;
    assert!((0.010..=0.018).contains(&part), "{part} sent again");
}

/// Twenty players need a keyframe each, ten in a second; those who join close together share one.
#[test]
fn keyframe_requests_of_many_players_are_merged() {
    let room = full_room(1);
    let asked = room.plane.stats().keyframe_requests;
    assert!((2..=10).contains(&asked), "asked for {asked} keyframes");
    // A request is repeated until a keyframe arrives, and merged with it.
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

/// Each camera of one publisher has its own codec, and keeps its place with a player that
/// does not support all of them.
#[test]
fn cameras_of_several_codecs_are_played_as_they_are() {
    let [vp8, h264] = [Codec::Vp8, Codec::H264].map(|codec| Some(Form::ours(codec)));
    let mut room = Room::new(1, &["rate=10mbit,delay=10ms"; 4]);
    room.publish_cameras(&ada(), &[vp8, h264]);
    room.run(seconds(1));
    room.play_cameras(&ada(), &[None, None]);
    room.play_offered(&ada());
    room.play_cameras(&ada(), &[h264]);
    room.run(seconds(3));
    let [_, asking, offered, picky] = &room.clients[..] else {
        panic!("a publisher and three players");
    };
    let captured = 60..=100;
    for player in [asking, offered] {
        let agreed: Vec<Codec> = player.peer.streams().iter().map(|s| s.codec()).collect();
        assert_eq!(agreed, [Codec::Vp8, Codec::H264]);
        let seen = (player.record.shown.len(), player.stills);
        assert!(
            captured.contains(&seen.0) && captured.contains(&seen.1),
            "{seen:?}"
        );
    }
    assert_eq!(picky.record.shown.len(), 0);
    assert!(captured.contains(&picky.stills), "{}", picky.stills);
}

/// The server does not decode, so players that list the publisher's profile get it.
#[test]
fn a_profile_that_only_some_decode_is_played_to_those() {
    let of = |profile| {
        Some(Form::H264(h264::Form {
            profile,
            ..h264::Form::OURS
        }))
    };
    let mut room = Room::new(1, &["rate=10mbit,delay=10ms"; 3]);
    room.publish_cameras(&ada(), &[of(Profile::Main)]);
    room.run(seconds(1));
    let baseline = of(Profile::ConstrainedBaseline);
    let refused = room.ask_to_play(&ada(), &[baseline]).err();
    assert_eq!(
        refused.expect("it could not decode that").to_string(),
        "this participant sends H.264 (main profile, packetization-mode=1), and the player's \
         video is H.264 (constrained baseline profile, packetization-mode=1)"
    );
    room.play_cameras(&ada(), &[of(Profile::High)]);
    room.play_offered(&ada());
    room.run(seconds(3));
    for player in &room.clients[1..] {
        assert!((60..=100).contains(&player.stills), "{}", player.stills);
    }
}

#[test]
fn a_silent_newcomer_gives_its_place_back_soon() {
    let mut room = Room::new(1, &["rate=8mbit,delay=15ms"]);
    room.ask_and_vanish(&ada());
    room.run(seconds(7));
    assert_eq!(room.plane.peers().iter().count(), 1);
    room.run(seconds(3));
    assert_eq!(room.plane.peers().iter().count(), 0);
    assert_eq!(room.datagrams, 0, "to an address that proved nothing");
    assert!(
        ended(&room).contains("no ICE check of the peer arrived"),
        "{:?}",
        room.events
    );
}

#[test]
fn a_newcomer_that_never_connects_gives_its_place_back() {
    let mut room = Room::new(1, &["rate=8mbit,delay=15ms"]);
    room.without_handshakes = true;
    room.publish(&ada());
    room.run(seconds(29));
    assert_eq!(room.plane.peers().iter().count(), 1);
    room.run(seconds(2));
    assert_eq!(room.plane.peers().iter().count(), 0);
    assert!(
        ended(&room).contains("opens no DTLS handshake"),
        "{:?}",
        room.events
    );
}

#[test]
fn a_browser_without_a_path_is_forgotten_with_its_consent_and_an_endpoint_much_later() {
    let mut room = Room::new(1, &["rate=8mbit,delay=15ms"; 3]);
    room.published = Rate::from_kbps(100);
    room.publish(&ada());
    room.run(seconds(1));
    room.play(&ada());
    room.browser = true;
    room.play(&ada());
    room.run(seconds(2));
    room.clients[1].is_gone = true;
    room.clients[2].is_gone = true;
    let mut left = |span| {
        room.run(seconds(span));
        room.plane.peers().iter().count()
    };
    assert_eq!(left(28), 3, "consent lasts for 30 s");
    assert_eq!(left(5), 2, "a browser has given up");
    assert_eq!(left(165), 2, "an endpoint of weft may return");
    assert_eq!(left(15), 1, "but not after three minutes");
}

#[test]
fn unauthenticated_peers_do_not_block_a_handshake() {
    let mut room = Room::new(1, &["rate=8mbit,delay=15ms"; 2]);
    room.strangers = 2_000;
    room.publish(&ada());
    room.run(seconds(1));
    room.play(&ada());
    room.run(seconds(1));
    let connected = |event: &&Event| matches!(event, Event::Connected { .. });
    assert_eq!(room.events.iter().filter(connected).count(), 2);
}

/// dimpl acknowledges a flight that it cannot continue, and wants to repeat that at once,
/// at the speed of the processor. For a player that makes its own offer, the server is
/// the DTLS client, and an unreadable certificate keeps it waiting.
#[test]
fn a_handshake_that_cannot_go_on_leaves_time_for_others_and_ends_with_its_reason() {
    let mut room = Room::new(1, &["rate=8mbit,delay=15ms"; 2]);
    room.publish(&ada());
    room.run(seconds(1));
    room.certificate = testing::unreadable_certificate();
    room.play(&ada());
    let before = room.datagrams;
    room.run(seconds(2));
    assert_eq!(room.events.len(), 1, "{:?}", room.events);
    let each_second = (room.datagrams - before) / 2;
    assert!((100..=700).contains(&each_second), "{each_second} a second");
    room.run(seconds(1));
    assert!(
        ended(&room).contains("certificate was refused"),
        "{:?}",
        room.events
    );
}
