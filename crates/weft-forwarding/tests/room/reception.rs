//! Participants who receive a whole room over one connection.

use super::{ada, seconds};
use crate::world::Room;
use weft_forwarding::{Event, LineContent, Publisher, ResourceId, View, ViewedCamera};
use weft_testing::pictures::Layers;
use weft_units::{Duration, Instant, Rate};

const GOOD: &str = "rate=20mbit,delay=10ms";

fn named(name: &str) -> Publisher {
    Publisher {
        participant: name.to_owned(),
        ..ada()
    }
}

/// People who publish, `count` of them.
fn people(count: usize) -> Vec<Publisher> {
    (0..count).map(|n| named(&format!("p{n:02}"))).collect()
}

fn shown(room: &Room, client: usize, who: &str, from: Instant) -> usize {
    let seen = room.clients[client].seen.get(who);
    seen.map_or(0, |record| record.shown_between(from, room.now))
}

#[test]
fn one_connection_carries_everybody_but_oneself() {
    let mut room = Room::new(1, &[GOOD; 4]);
    let people = people(3);
    for publisher in &people {
        room.publish(publisher);
    }
    room.run(seconds(1));
    room.receive(&people[0]);
    room.run(seconds(1));
    let from = room.now;
    room.run(seconds(4));
    let viewer = room.clients.len() - 1;
    for other in &people[1..] {
        let count = shown(&room, viewer, &other.participant, from);
        assert!((115..=125).contains(&count), "{count} of {other:?}");
    }
    assert!(!room.clients[viewer].seen.contains_key("p00"));
    assert_eq!(room.plane.stats().playbacks, 1);
    assert!(room.plane.census().agrees(), "{:?}", room.plane.census());
}

#[test]
fn later_participants_need_no_new_connection() {
    let mut room = Room::new(1, &[GOOD; 12]);
    room.published = Rate::from_kbps(400);
    room.receive(&named("viewer"));
    room.run(seconds(1));
    // More than the first pool of lines has.
    let people = people(6);
    for publisher in &people {
        room.publish(publisher);
        room.run(seconds(1));
    }
    room.run(seconds(1));
    let from = room.now;
    room.run(seconds(2));
    for publisher in &people {
        let count = shown(&room, 0, &publisher.participant, from);
        assert!((55..=65).contains(&count), "{count} of {publisher:?}");
    }
    let connected = |event: &&Event| matches!(event, Event::Connected { .. });
    assert_eq!(room.events.iter().filter(connected).count(), 7);
    assert_eq!(room.events.len(), 7, "{:?}", room.events);
}

/// Twelve people come and go, one after another, without further negotiation.
#[test]
fn a_line_is_reused_for_the_next_participant() {
    let mut room = Room::new(1, &[GOOD; 14]);
    room.published = Rate::from_kbps(400);
    room.receive(&named("viewer"));
    room.run(seconds(1));
    let streams = room.clients[0].peer.streams().len();
    for publisher in people(12) {
        let client = room.clients.len();
        room.publish(&publisher);
        let from = room.now + seconds(1);
        room.run(seconds(3));
        let count = shown(&room, 0, &publisher.participant, from);
        assert!((55..=65).contains(&count), "{count} of {publisher:?}");
        room.plane
            .close(room.now, &ResourceId(format!("resource {client}")));
        room.run(Duration::from_millis(200));
        assert!(room.plane.census().agrees(), "{:?}", room.plane.census());
    }
    assert_eq!(room.clients[0].peer.streams().len(), streams);
}

/// Two cameras of 1500 kbit/s and 15 pictures a second, a viewer with a good link, and
/// one behind a token bucket of this rate. Returns the pictures a second of both tiles
/// and the longest time without one, of the strong viewer and of the weak one.
fn weak(downlink: &str, seed: u64) -> [[(f64, Duration); 2]; 2] {
    let downlink = format!("rate={downlink},burst=30kB,delay=20ms,queue=200ms");
    let mut room = Room::new(seed, &[GOOD, GOOD, GOOD, &downlink]);
    room.pictures = (Duration::from_nanos(66_666_666), Layers::Three);
    let people = people(2);
    for publisher in &people {
        room.publish(publisher);
    }
    room.run(seconds(2));
    room.browser = true;
    room.receive(&named("strong"));
    room.run(seconds(3));
    room.receive(&named("weak"));
    room.run(seconds(38));
    let from = Instant::ZERO + seconds(15);
    let span = (room.now - from).as_secs_f64();
    [2, 3].map(|client| {
        let mut each = people.iter().map(|who| {
            let record = &room.clients[client].seen[&who.participant];
            let fps = record.shown_between(from, room.now) as f64 / span;
            let gap = record.longest_gap(from, room.now);
            (fps, gap)
        });
        [(); 2].map(|()| each.next().expect("two publish"))
    })
}

/// Bounds on each tile of the weak viewer: pictures a second, and the longest time
/// without a new one.
fn weak_viewer(downlink: &str, fps: f64, longest: Duration) {
    for seed in 1..4 {
        let [strong, weak] = weak(downlink, seed);
        for (seen, gap) in strong {
            assert!((14.5..15.5).contains(&seen), "{seen}");
            assert!(gap <= Duration::from_millis(150), "{gap:?}");
        }
        for (seen, gap) in weak {
            let fits = (fps..15.0).contains(&seen) && gap <= longest;
            assert!(fits, "{downlink}, seed {seed}: {weak:?}");
        }
    }
}

/// One congestion controller decides for both tiles. With one each, they compete: one
/// tile gets 1.5 pictures a second, and none for four seconds.
#[test]
fn a_viewer_with_half_of_the_rate_sees_both_tiles_move() {
    weak_viewer("1500kbit", 6.0, Duration::from_secs(1));
}

#[test]
fn a_viewer_with_a_third_of_the_rate_sees_both_tiles_move() {
    weak_viewer("1000kbit", 3.5, Duration::from_secs(1));
}

#[test]
fn a_viewer_with_a_fifth_of_the_rate_sees_some_pictures_of_both() {
    weak_viewer("600kbit", 1.8, Duration::from_millis(4_000));
}

/// Two cameras, each in encodings of 150 and 1350 kbit/s; the viewers of [`weak`].
#[test]
fn a_weak_viewer_sees_the_small_encodings_whole_and_a_strong_one_the_large() {
    for seed in 1..4 {
        let downlink = "rate=600kbit,burst=30kB,delay=20ms,queue=200ms";
        let mut room = Room::new(seed, &[GOOD, GOOD, GOOD, downlink]);
        room.pictures = (Duration::from_nanos(66_666_666), Layers::Three);
        let people = people(2);
        for publisher in &people {
            let rates = [150, 1_350].map(Rate::from_kbps);
            room.publish_encodings(publisher, &rates);
        }
        room.run(seconds(2));
        room.browser = true;
        room.receive(&named("strong"));
        room.run(seconds(3));
        room.receive(&named("weak"));
        room.run(seconds(10));
        let from = room.now;
        let bytes =
            |room: &Room, client: usize| -> u64 { room.clients[client].bytes.values().sum() };
        let before = [2, 3].map(|client| bytes(&room, client));
        room.run(seconds(28));
        for client in [2, 3] {
            for who in &people {
                let record = &room.clients[client].seen[&who.participant];
                let fps = record.shown_between(from, room.now) as f64 / 28.0;
                let gap = record.longest_gap(from, room.now);
                let (least, longest) = match client {
                    2 => (14.5, Duration::from_millis(150)),
                    _ => (14.0, Duration::from_millis(1_000)),
                };
                let fits = (least..15.5).contains(&fps) && gap <= longest;
                assert!(fits, "seed {seed}, client {client}: {fps}, {gap:?}");
            }
        }
        let of = |client: usize| (bytes(&room, client) - before[client - 2]) * 8 / 28_000;
        let (strong, weak) = (of(2), of(3));
        assert!((2_400..3_200).contains(&strong), "{strong} kbit/s");
        assert!((230..450).contains(&weak), "{weak} kbit/s");
        assert!(room.plane.census().agrees(), "{:?}", room.plane.census());
    }
}

/// Five cameras in encodings of 200 and 1350 kbit/s. A viewer behind 350 kbit/s displays
/// the first one large.
#[test]
fn a_camera_that_does_not_fit_is_paused_until_there_is_room() {
    // A probe that fits into the burst of this link measures 4 Mbit/s. The large encoding
    // that is then sent is dropped as soon as its packets are lost.
    for seed in 1..5 {
        let downlink = "rate=350kbit,burst=30kB,delay=20ms,queue=200ms";
        let mut room = Room::new(seed, &[GOOD, GOOD, GOOD, GOOD, GOOD, downlink]);
        room.pictures = (Duration::from_nanos(66_666_666), Layers::Three);
        let people = people(5);
        for publisher in &people {
            let rates = [200, 1_350].map(Rate::from_kbps);
            room.publish_encodings(publisher, &rates);
        }
        room.run(seconds(2));
        room.browser = true;
        room.receive(&named("viewer"));
        let tile = |(place, who): (usize, &Publisher)| {
            let (width, height) = if place == 0 { (1280, 720) } else { (320, 180) };
            let participant = who.participant.clone();
            ViewedCamera {
                participant,
                camera: 0,
                width,
                height,
            }
        };
        let cameras = people.iter().enumerate().map(tile).collect();
        let view = View { cameras };
        let resource = ResourceId("resource 5".to_owned());
        room.plane
            .set_view(room.now, &resource, view)
            .expect("it is a reception");
        room.run(seconds(15));
        let paused = |room: &Room| -> Vec<String> {
            let lines = room.clients[5].lines.iter();
            let paused = lines.filter(|line| line.paused);
            paused.map(|line| line.participant.clone()).collect()
        };
        let from = room.now;
        let left_out: Vec<_> = (0..20)
            .map(|_| {
                room.run(seconds(1));
                paused(&room)
            })
            .collect();
        let some_fit = left_out.iter().filter(|out| (1..4).contains(&out.len()));
        assert!(some_fit.count() >= 12, "seed {seed}: {left_out:?}");
        let left_out = left_out.concat();
        assert!(!left_out.contains(&people[0].participant), "{left_out:?}");
        let large = &room.clients[5].seen[&people[0].participant];
        let gap = large.longest_gap(from, room.now);
        let fps = large.shown_between(from, room.now) as f64 / 20.0;
        assert!(fps >= 7.0, "seed {seed}: {fps}");
        assert!(gap <= Duration::from_millis(1_100), "seed {seed}: {gap:?}");
        for gone in 2..5 {
            room.plane
                .close(room.now, &ResourceId(format!("resource {gone}")));
        }
        room.run(seconds(65));
        // A failed raise pauses the small tile for up to eight seconds in total.
        let from = room.now;
        room.run(seconds(30));
        for who in &people[..2] {
            let fps = shown(&room, 5, &who.participant, from) as f64 / 30.0;
            assert!(fps >= 4.0, "seed {seed}, {who:?}: {fps}");
        }
    }
}

#[test]
fn a_screen_is_sent_while_it_is_shared() {
    let mut room = Room::new(1, &[GOOD; 4]);
    let presenter = named("presenter");
    room.publish_screen(&presenter);
    room.receive(&named("viewer"));
    room.run(seconds(2));
    let cameras = |room: &Room| -> Vec<LineContent> {
        let lines = room.clients[1].lines.iter();
        let cameras = lines.filter(|line| line.content != LineContent::Sound);
        cameras.map(|line| line.content).collect()
    };
    assert_eq!(cameras(&room), [LineContent::Camera(0)]);
    let resource = ResourceId("resource 0".to_owned());
    room.plane.share_screen(room.now, &resource, true);
    room.run(seconds(2));
    assert_eq!(cameras(&room), [0, 1].map(LineContent::Camera));
    let from = room.now;
    let before = room.clients[1].bytes["presenter"];
    room.run(seconds(4));
    let both = room.clients[1].bytes["presenter"] - before;
    assert!(shown(&room, 1, "presenter", from) > 0);
    room.plane.share_screen(room.now, &resource, false);
    room.run(seconds(1));
    assert_eq!(cameras(&room), [LineContent::Camera(0)]);
    let before = room.clients[1].bytes["presenter"];
    room.run(seconds(4));
    let one = room.clients[1].bytes["presenter"] - before;
    assert!(both > one * 3 / 2, "{both} and {one} bytes");
    assert!(room.plane.census().agrees(), "{:?}", room.plane.census());
}

/// Two cameras of one encoding. At first there is no viewer; then one joins, and later
/// displays only one of them.
#[test]
fn a_camera_is_sent_only_while_somebody_watches_it() {
    let mut room = Room::new(1, &[GOOD; 3]);
    let people = people(2);
    for publisher in &people {
        room.publish(publisher);
    }
    let received = |room: &Room| room.plane.stats().packets_received;
    let received_in = |room: &mut Room, span: Duration| {
        let before = received(room);
        room.run(span);
        received(room) - before
    };
    let all = received_in(&mut room, seconds(4));
    room.run(seconds(3));
    assert_eq!(received_in(&mut room, seconds(10)), 0, "nobody is there");

    room.receive(&named("viewer"));
    let from = room.now;
    room.run(seconds(1));
    for who in &people {
        let count = shown(&room, 2, &who.participant, from);
        assert!(
            (15..=30).contains(&count),
            "{count} of {who:?} in the first second"
        );
    }
    let view = View {
        cameras: vec![ViewedCamera {
            participant: people[0].participant.clone(),
            camera: 0,
            width: 640,
            height: 360,
        }],
    };
    let resource = ResourceId("resource 2".to_owned());
    let set = room.plane.set_view(room.now, &resource, view);
    set.expect("it is a reception");
    room.run(seconds(7));
    let one = received_in(&mut room, seconds(4));
    println!("{all} packets of both, {one} of one");
    assert!((all * 2 / 5..all * 3 / 5).contains(&one), "{one} of {all}");
}

/// A camera in encodings of 150 and 1350 kbit/s; one viewer gets the large one, and a
/// later one cannot.
#[test]
fn the_small_encoding_is_sent_only_while_somebody_needs_it() {
    let downlink = "rate=600kbit,burst=30kB,delay=20ms,queue=200ms";
    let mut room = Room::new(1, &[GOOD, GOOD, downlink]);
    room.pictures = (Duration::from_nanos(66_666_666), Layers::Three);
    let publisher = &people(1)[0];
    room.publish_encodings(publisher, &[150, 1_350].map(Rate::from_kbps));
    room.run(seconds(2));
    room.browser = true;
    room.receive(&named("strong"));
    room.run(seconds(15));
    assert_eq!(room.clients[0].camera().wanted, [false, true]);
    room.receive(&named("weak"));
    room.run(seconds(6));
    assert_eq!(room.clients[0].camera().wanted, [true, true]);
    let from = room.now;
    room.run(seconds(20));
    for (client, least) in [(1, 290), (2, 250)] {
        let count = shown(&room, client, &publisher.participant, from);
        assert!((least..=305).contains(&count), "client {client}: {count}");
    }
}
