//! Viewer whose link carries less than the rate of its publications.

use super::{ada, seconds};
use crate::world::Room;
use weft_forwarding::Publisher;
use weft_testing::pictures::Layers;
use weft_units::{Duration, Freezes, Instant};

/// Result for a viewer of a publisher.
#[derive(Debug)]
struct Seen {
    fps: f64,
    /// Freezes, as the lab counts them.
    frozen: Duration,
    /// Longest time without a new picture.
    longest: Duration,
}

const STRONG: &str = "rate=20mbit,delay=10ms";

fn bob() -> Publisher {
    Publisher {
        participant: "bob".to_owned(),
        ..ada()
    }
}

/// Two cameras of 1500 kbit/s and 15 pictures a second, a viewer with a good
/// link, and one behind a token bucket of this rate.
fn room(seed: u64, downlink: &str, browser: bool) -> Room {
    let mut room = Room::new(seed, &[STRONG, STRONG, STRONG, downlink]);
    room.pictures = (Duration::from_nanos(66_666_666), Layers::Three);
    room.publish(&ada());
    room.publish(&bob());
    room.run(seconds(2));
    room.browser = browser;
    for link in [2, 3] {
        room.link = Some(link);
        room.play(&ada());
        room.play(&bob());
        room.run(seconds(3));
    }
    room.run(seconds(35));
    room
}

fn seen(room: &Room, client: usize, from: Instant) -> Seen {
    let record = &room.clients[client].record;
    let mut freezes = Freezes::new();
    let shown = record.shown.iter().filter(|s| s.at >= from);
    shown.for_each(|s| freezes.on_picture(s.at));
    let mut frozen = freezes.total();
    if let Some(last) = record.shown.last().filter(|_| freezes.is_frozen(room.now)) {
        frozen += room.now - last.at;
    }
    let span = room.now - from;
    Seen {
        fps: record.shown_between(from, room.now) as f64 / span.as_secs_f64(),
        frozen,
        longest: record.longest_gap(from, room.now),
    }
}

/// Pictures of both cameras that the two viewers saw from ten seconds after the weak one
/// joined: first the strong viewer, then the weak one.
fn both(downlink: &str, browser: bool) -> [[Seen; 2]; 2] {
    let room = room(1, downlink, browser);
    let from = Instant::ZERO + seconds(15);
    let of = |client| seen(&room, client, from);
    [[of(2), of(3)], [of(4), of(5)]]
}

/// Bounds on the result of the weak viewer: pictures a second of both tiles together and
/// of each, and the longest time without a new one. The tiles' connections compete with
/// each other, so their shares differ.
fn weak_viewer(rate: &str, together: f64, each: f64, longest: Duration) {
    for browser in [false, true] {
        let downlink = format!("rate={rate},burst=30kB,delay=20ms,queue=200ms");
        let [strong, weak] = both(&downlink, browser);
        for seen in &strong {
            assert!((14.5..15.5).contains(&seen.fps), "{seen:?}");
            assert_eq!(seen.frozen, Duration::ZERO, "{seen:?}");
        }
        let sum = weak[0].fps + weak[1].fps;
        assert!((together..25.0).contains(&sum), "{rate}: {weak:?}");
        for seen in &weak {
            assert!(
                seen.fps >= each && seen.longest <= longest,
                "{rate}: {seen:?}"
            );
        }
    }
}

#[test]
fn a_viewer_with_half_of_the_rate_sees_fewer_pictures() {
    weak_viewer("1500kbit", 7.0, 1.5, Duration::from_secs(4));
}

#[test]
fn a_viewer_with_a_third_of_the_rate_sees_fewer_pictures() {
    weak_viewer("1000kbit", 5.0, 0.8, Duration::from_millis(4_500));
}

/// Before, such a viewer saw one picture in half a minute: a forwarder's queue had to be
/// sent within a quarter of a second, whatever the rate of the link.
#[test]
fn a_viewer_with_a_fifth_of_the_rate_sees_some_pictures() {
    weak_viewer("600kbit", 2.5, 0.3, Duration::from_millis(4_500));
}

/// A newcomer's assumed rate floods its link, and its congestion controller then stays at
/// a quarter of the link's rate for seconds. The base layer still arrives.
#[test]
fn a_weak_newcomer_sees_the_base_layer_after_two_seconds() {
    for seed in 1..5 {
        let downlink = "rate=600kbit,burst=30kB,delay=5ms,queue=200ms";
        let mut room = Room::new(seed, &[STRONG, downlink]);
        // Of 1.4 Mbit/s and 30 pictures a second, the base layer has a quarter.
        room.pictures = (Duration::from_nanos(33_333_333), Layers::Three);
        room.publish(&ada());
        room.run(seconds(1));
        room.link = Some(1);
        room.play(&ada());
        room.run(seconds(5));
        let [from, until] = [3, 5].map(|at| Instant::ZERO + seconds(at));
        let shown = room.clients[1].record.shown_between(from, until);
        assert!(
            (12..=45).contains(&shown),
            "seed {seed}: {shown} pictures in two seconds"
        );
    }
}
