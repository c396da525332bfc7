//! Room over two planes of a server. The sockets share a port, so about half of the
//! datagrams arrive at the wrong plane.

use super::{ada, seconds};
use crate::world::Room;
use weft_forwarding::{Event as PlaneEvent, PlaneId, Publisher, Relayed, ResourceId, Sound};
use weft_testing::pictures::Layers;
use weft_units::{Duration, Instant, Rate};

const GOOD: &str = "rate=20mbit,delay=10ms";
const VIEWERS: usize = 8;

fn named(name: &str) -> Publisher {
    Publisher {
        participant: name.to_owned(),
        ..ada()
    }
}

fn room(planes: usize) -> Room {
    Room::spread(1, &[GOOD; VIEWERS + 4], planes, None)
}

/// A publisher on the first plane, and viewers on all planes in turn, who join within a
/// second; then ten seconds more.
fn full(planes: usize) -> Room {
    let mut room = room(planes);
    room.publish(&ada());
    room.run(seconds(1));
    for viewer in 0..VIEWERS {
        room.home = viewer % planes;
        match viewer % 3 {
            0 => room.play(&ada()),
            1 => room.play_offered(&ada()),
            _ => room.receive(&named("viewer")),
        }
        room.run(Duration::from_millis(125));
    }
    room.run(seconds(10));
    room
}

/// Number of pictures of a participant that a viewer has seen since that time.
fn shown(room: &Room, client: usize, who: &Publisher, from: Instant) -> usize {
    let client = &room.clients[client];
    match client.receives_room {
        true => {
            let seen = client.seen.get(&who.participant);
            seen.map_or(0, |record| record.shown_between(from, room.now))
        }
        false => client.record.shown_between(from, room.now),
    }
}

fn agree(room: &Room) {
    for plane in room.planes() {
        assert!(plane.census().agrees(), "{:?}", plane.census());
    }
}

/// Number of droppable messages between planes in the next two seconds.
fn relayed(room: &mut Room) -> u64 {
    let before = room.relayed.0;
    room.run(seconds(2));
    room.relayed.0 - before
}

fn resource(client: usize) -> ResourceId {
    ResourceId(format!("resource {client}"))
}

fn second() -> PlaneId {
    PlaneId::new(1).expect("there are two")
}

#[test]
fn viewers_see_the_same_pictures_on_either_plane() {
    let [one, two, three] = [1, 2, 3].map(full);
    // The last viewer to join sees earlier pictures until it has caught up.
    let from = Instant::ZERO + seconds(4);
    for (planes, room) in [(1, &one), (2, &two), (3, &three)] {
        for viewer in 1..=VIEWERS {
            let count = shown(room, viewer, &ada(), from);
            assert!(
                (238..=242).contains(&count),
                "viewer {viewer} of {planes} planes: {count}"
            );
        }
        let dropped = room.planes().map(|p| p.stats().datagrams_dropped);
        assert_eq!(dropped.sum::<u64>(), 0, "{planes} planes");
        agree(room);
    }
    assert_eq!(one.relayed.0, 0);
    let playbacks: Vec<u64> = two.planes().map(|p| p.stats().playbacks).collect();
    assert_eq!(playbacks, [4, 4]);
    let asked = two.clients[0].camera().keyframes_asked;
    assert!((1..=6).contains(&asked), "{asked} keyframes for 8 viewers");
}

#[test]
fn a_room_over_two_planes_repeats_byte_by_byte() {
    let [first, again] = [(); 2].map(|()| {
        let room = full(2);
        (room.digest(), room.datagrams, room.relayed)
    });
    assert_eq!(first, again);
}

#[test]
fn everybody_receives_those_of_the_other_plane() {
    let mut room = room(2);
    room.published = Rate::from_kbps(600);
    let people: Vec<Publisher> = (0..4).map(|n| named(&format!("p{n}"))).collect();
    for (place, publisher) in people.iter().enumerate() {
        room.home = place % 2;
        room.publish(publisher);
    }
    for (place, receiver) in people.iter().enumerate() {
        room.home = place % 2;
        room.receive(receiver);
    }
    room.run(seconds(2));
    let from = room.now;
    room.run(seconds(4));
    for (place, receiver) in people.iter().enumerate() {
        for other in people.iter().filter(|other| *other != receiver) {
            let count = shown(&room, 4 + place, other, from);
            assert!((115..=125).contains(&count), "{count} of {other:?}");
        }
        assert!(
            !room.clients[4 + place]
                .seen
                .contains_key(&receiver.participant)
        );
    }
    agree(&room);
}

#[test]
fn packets_go_to_another_plane_only_while_somebody_there_sees_them() {
    let mut room = room(2);
    room.publish(&ada());
    room.run(seconds(1));
    // At most the publisher's own packets are passed between planes.
    let own = relayed(&mut room);
    room.home = 1;
    room.play(&ada());
    room.run(seconds(1));
    assert!(relayed(&mut room) > own + 100);
    let now = room.now;
    room.plane_at(1).close(now, &resource(1));
    room.run(seconds(1));
    let after = relayed(&mut room);
    assert!(after.abs_diff(own) < 20, "{own} before, {after} after");
    let now = room.now;
    room.plane_at(0).close(now, &resource(0));
    room.run(seconds(1));
    for plane in room.planes() {
        let census = plane.census();
        assert_eq!((census.publications, census.tracks), (0, [0, 0]));
        assert_eq!(census.imports, [0, 0]);
    }
}

#[test]
fn a_moderator_mutes_for_both_planes() {
    let mut room = room(2);
    room.publish_with_sound(&ada());
    room.run(seconds(1));
    for home in [0, 1] {
        room.home = home;
        room.receive(&named("viewer"));
    }
    room.run(seconds(2));
    let mut heard = |sound: Option<Sound>| {
        for plane in [0, 1].into_iter().filter(|_| sound.is_some()) {
            let (now, sound) = (room.now, sound.expect("there is one"));
            room.plane_at(plane).set_sound(now, &ada(), sound);
        }
        room.run(seconds(1));
        let before = [1, 2].map(|client: usize| room.clients[client].sounds);
        room.run(seconds(1));
        [0, 1].map(|place| room.clients[place + 1].sounds - before[place])
    };
    let all = 25..=35;
    assert!(heard(None).iter().all(|count| all.contains(count)));
    assert_eq!(heard(Some(Sound::Muted)), [0, 0]);
    let again = heard(Some(Sound::Forwarded));
    assert!(again.iter().all(|count| all.contains(count)), "{again:?}");
    agree(&room);
}

/// The victim's answers have no name, and went to the forger's plane.
#[test]
fn a_forged_check_that_comes_first_delays_nobody_on_another_plane() {
    let mut room = Room::spread(1, &[GOOD; 8], 3, None);
    room.forged = 1..8;
    room.home = 1;
    room.publish(&named("forger"));
    room.run(seconds(1));
    room.home = 0;
    for victim in 1..8 {
        room.publish(&named(&format!("victim {victim}")));
    }
    room.run(seconds(1));
    let connected = |number: usize| {
        let is_theirs = |event: &PlaneEvent| matches!(event, PlaneEvent::Connected { resource: of } if *of == resource(number));
        room.events.iter().any(is_theirs)
    };
    let late: Vec<usize> = (1..8).filter(|victim| !connected(*victim)).collect();
    assert_eq!(late, [0; 0]);
}

/// A new publication has new tracks.
#[test]
fn a_muted_participant_who_publishes_again_stays_muted() {
    let mut room = room(2);
    room.publish_with_sound(&ada());
    for home in [0, 1] {
        room.home = home;
        room.receive(&named("viewer"));
    }
    room.home = 0;
    room.run(seconds(2));
    let now = room.now;
    for plane in [0, 1] {
        room.plane_at(plane).set_sound(now, &ada(), Sound::Muted);
    }
    room.plane.close(now, &resource(0));
    room.run(seconds(1));
    room.publish_with_sound(&ada());
    let from = room.now;
    let before = [1, 2].map(|client: usize| room.clients[client].sounds);
    room.run(seconds(3));
    for (place, before) in before.into_iter().enumerate() {
        let client = place + 1;
        let seen = shown(&room, client, &ada(), from);
        assert!(seen > 20, "client {client} sees {seen}");
        assert_eq!(room.clients[client].sounds, before, "client {client} hears");
    }
}

/// The publisher gets the rates that viewers on both planes can use.
#[test]
fn a_publisher_sends_what_the_strongest_viewer_of_another_plane_can_use() {
    let (alone, slow, quick) = (
        "rate=8mbit,delay=15ms",
        "rate=500kbit,delay=30ms",
        "rate=6mbit,delay=30ms",
    );
    let mut room = Room::spread(1, &[alone, slow, quick], 2, None);
    let target = |room: &Room| room.clients[0].peer.session().target_rate();
    room.publish(&ada());
    room.run(seconds(2));
    room.home = 1;
    room.play(&ada());
    room.run(seconds(20));
    let told = target(&room);
    let (least, most) = (Rate::from_kbps(200), Rate::from_kbps(520));
    assert!((least..=most).contains(&told), "{told:?} for 500 kbit/s");
    room.home = 0;
    room.play(&ada());
    room.run(seconds(20));
    let told = target(&room);
    let (least, most) = (Rate::from_kbps(700), Rate::from_kbps(1_500));
    assert!((least..=most).contains(&told), "{told:?} for 6 Mbit/s");
}

#[test]
fn a_weak_viewer_of_another_plane_gets_the_small_encoding() {
    let downlink = "rate=600kbit,burst=30kB,delay=20ms,queue=200ms";
    let mut room = Room::spread(1, &[GOOD, GOOD, downlink], 2, None);
    room.pictures = (Duration::from_nanos(66_666_666), Layers::Three);
    room.publish_encodings(&ada(), &[150, 1_350].map(Rate::from_kbps));
    room.run(seconds(2));
    room.browser = true;
    room.home = 1;
    room.receive(&named("strong"));
    room.receive(&named("weak"));
    room.run(seconds(10));
    let bytes = |room: &Room, client: usize| -> u64 { room.clients[client].bytes.values().sum() };
    let before = [1, 2].map(|client| bytes(&room, client));
    let from = room.now;
    room.run(seconds(20));
    let kbps = [0, 1].map(|at: usize| (bytes(&room, at + 1) - before[at]) * 8 / 20_000);
    assert!((1_200..1_600).contains(&kbps[0]), "{kbps:?}");
    assert!((110..450).contains(&kbps[1]), "{kbps:?}");
    let fps = shown(&room, 2, &ada(), from) as f64 / 20.0;
    assert!((13.0..15.5).contains(&fps), "{fps} pictures a second");
}

/// Rate that a server with this many planes sends to four players, and the pictures a
/// second of each; its bound is 4 Mbit/s.
fn bounded(planes: usize) -> (Rate, [f64; 4]) {
    let (wide, most) = ("rate=30mbit,delay=20ms", Rate::from_mbps(4));
    let mut room = Room::spread(1, &[wide; 5], planes, Some(most));
    room.published = Rate::from_mbps(2);
    room.pictures.1 = Layers::Three;
    room.publish(&ada());
    room.run(seconds(2));
    for home in [0, 1, 1, 1] {
        room.home = home % planes;
        room.play(&ada());
    }
    room.run(seconds(5));
    let (before, from) = (room.sent, room.now);
    room.run(seconds(20));
    let sent = (room.sent - before) / (room.now - from);
    let fps = [1, 2, 3, 4].map(|viewer| shown(&room, viewer, &ada(), from) as f64 / 20.0);
    (sent, fps)
}

#[test]
fn players_of_both_planes_share_what_the_server_may_send() {
    let [(one, _), (two, fps)] = [1, 2].map(bounded);
    let ratio = two.as_bps() as f64 / one.as_bps() as f64;
    assert!((0.9..1.1).contains(&ratio), "{one:?} and {two:?}");
    assert!(fps.iter().all(|fps| *fps > 14.0), "{fps:?}");
}

#[test]
fn a_plane_that_cannot_follow_continues_with_a_keyframe() {
    let mut room = room(2);
    room.publish(&ada());
    room.run(seconds(1));
    for home in [0, 1] {
        room.home = home;
        room.play(&ada());
    }
    room.run(seconds(2));
    room.relayed.1 = true;
    room.run(Duration::from_millis(500));
    room.relayed.1 = false;
    let now = room.now;
    let first = PlaneId::new(0).expect("there are two");
    room.plane_at(1)
        .handle_relayed(now, first, Relayed::interrupted());
    let from = room.now + Duration::from_millis(200);
    room.run(seconds(3));
    for viewer in [1, 2] {
        let count = shown(&room, viewer, &ada(), from);
        assert!((80..=90).contains(&count), "viewer {viewer}: {count}");
    }
}

#[test]
fn a_plane_that_ends_takes_its_own_participants_only() {
    let mut room = room(2);
    room.published = Rate::from_kbps(600);
    for (home, publisher) in [ada(), named("bob")].iter().enumerate() {
        room.home = home;
        room.publish(publisher);
    }
    room.home = 0;
    room.receive(&named("viewer"));
    room.run(seconds(3));
    assert!(shown(&room, 2, &named("bob"), Instant::ZERO) > 0);
    let now = room.now;
    room.others.clear();
    room.plane.unlink(now, second());
    let from = room.now + Duration::from_millis(100);
    room.run(seconds(3));
    assert_eq!(shown(&room, 2, &named("bob"), from), 0);
    let count = shown(&room, 2, &ada(), from);
    assert!((85..=88).contains(&count), "{count}");
    assert_eq!(room.plane.census().imports, [0, 0]);
    agree(&room);
}

/// The system still delivers the failed plane's datagrams to the new one.
#[test]
fn a_plane_that_is_replaced_loses_no_datagram_of_the_others() {
    let mut room = room(2);
    room.home = 1;
    room.publish(&ada());
    room.run(seconds(1));
    for _ in 0..VIEWERS {
        room.play(&ada());
    }
    room.run(seconds(3));
    room.replace_plane(0);
    let from = room.now;
    room.run(seconds(3));
    assert_eq!(room.plane.stats().datagrams_dropped, 0);
    for viewer in 1..=VIEWERS {
        let count = shown(&room, viewer, &ada(), from);
        assert!((88..=92).contains(&count), "viewer {viewer}: {count}");
    }
    agree(&room);
}

#[test]
fn a_publisher_who_moves_to_another_plane_is_seen_on_all() {
    let mut room = room(3);
    room.published = Rate::from_kbps(600);
    room.publish(&ada());
    room.run(seconds(1));
    for home in 0..3 {
        room.home = home;
        room.receive(&named("viewer"));
    }
    room.run(seconds(2));
    room.home = 1;
    room.publish(&ada());
    room.run(seconds(1));
    let now = room.now;
    room.plane.close(now, &resource(0));
    // Viewers display only pictures with higher numbers than before.
    room.run(seconds(5));
    let from = room.now;
    room.run(seconds(3));
    for viewer in 1..=3 {
        let count = shown(&room, viewer, &ada(), from);
        assert!((88..=92).contains(&count), "viewer {viewer}: {count}");
    }
    agree(&room);
}
