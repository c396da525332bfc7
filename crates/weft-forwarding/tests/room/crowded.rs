//! Viewer whose link carries less than the smallest encodings of all cameras together.

use super::{ada, seconds};
use crate::world::Room;
use weft_forwarding::{Publisher, ResourceId, View, ViewedCamera};
use weft_testing::pictures::Layers;
use weft_units::{Duration, Instant, Rate};

const GOOD: &str = "rate=20mbit,delay=10ms";

/// Result for a viewer.
#[derive(Debug)]
struct Seen {
    /// Pictures a second of each camera.
    fps: Vec<f64>,
    /// Longest time without a picture of each camera.
    gap: Vec<Duration>,
    /// Quantiles of the time from capture to the complete picture.
    p50: Duration,
    p95: Duration,
    /// Number of paused cameras at the end.
    paused: usize,
}

/// This many cameras in encodings of these rates in kbit/s, with a picture every
/// `interval`, in tiles of one size, for a viewer with this link.
fn seen(seed: u64, downlink: &str, cameras: usize, rates: &[u64], interval: Duration) -> Seen {
    let mut links = vec![GOOD; cameras];
    links.push(downlink);
    let mut room = Room::new(seed, &links);
    room.pictures = (interval, Layers::Three);
    room.published = Rate::from_kbps(rates.iter().sum::<u64>() * 11 / 10);
    let people: Vec<Publisher> = (0..cameras)
        .map(|n| Publisher {
            participant: format!("p{n:02}"),
            ..ada()
        })
        .collect();
    for publisher in &people {
        let rates: Vec<Rate> = rates.iter().map(|kbps| Rate::from_kbps(*kbps)).collect();
        room.publish_encodings(publisher, &rates);
    }
    room.run(seconds(2));
    room.browser = true;
    room.receive(&Publisher {
        participant: "viewer".to_owned(),
        ..ada()
    });
    let tile = |who: &Publisher| ViewedCamera {
        participant: who.participant.clone(),
        camera: 0,
        width: 640,
        height: 540,
    };
    let view = View {
        cameras: people.iter().map(tile).collect(),
    };
    let resource = ResourceId(format!("resource {cameras}"));
    let set = room.plane.set_view(room.now, &resource, view);
    set.expect("it is a reception");
    room.run(seconds(15));
    let from = room.now;
    room.run(seconds(40));
    summary(&room, cameras, &people, from)
}

fn summary(room: &Room, viewer: usize, people: &[Publisher], from: Instant) -> Seen {
    let client = &room.clients[viewer];
    let span = (room.now - from).as_secs_f64();
    let records = || {
        people
            .iter()
            .filter_map(|p| client.seen.get(&p.participant))
    };
    let shown = records().flat_map(|r| &r.shown).filter(|s| s.at >= from);
    let mut ages: Vec<Duration> = shown.map(|s| s.at - s.captured).collect();
    ages.sort();
    let at = |q: f64| ages[((ages.len() - 1) as f64 * q) as usize];
    Seen {
        fps: records()
            .map(|r| r.shown_between(from, room.now) as f64 / span)
            .collect(),
        gap: records().map(|r| r.longest_gap(from, room.now)).collect(),
        p50: at(0.5),
        p95: at(0.95),
        paused: client.lines.iter().filter(|line| line.paused).count(),
    }
}

/// Asserts that no viewer waits for a picture, and that no picture is old.
fn assert_live(case: &str, seen: &Seen, together: std::ops::Range<f64>) {
    let sum: f64 = seen.fps.iter().sum();
    assert!(together.contains(&sum), "{case}: {sum} of {seen:?}");
    let delay = Duration::from_millis(30)..Duration::from_millis(500);
    assert!(delay.contains(&seen.p50), "{case}: {seen:?}");
    assert!(delay.contains(&seen.p95), "{case}: {seen:?}");
    let first = seen.gap[0];
    assert!(first < Duration::from_millis(850), "{case}: {seen:?}");
}

/// When packets were counted without their headers, the server sent 1.3 times the rate of
/// the link, and pictures arrived half a second to a second late.
#[test]
fn tracks_that_do_not_fit_are_paused_and_the_rest_is_live() {
    let thirty = Duration::from_nanos(33_333_333);
    let fifteen = thirty * 2;
    for seed in 1..4 {
        let over = |rate: u64| format!("rate={rate}kbit,delay=10ms,queue=300ms");
        // Of five cameras of at least 156 kbit/s, one or two fit.
        let five = seen(seed, &over(250), 5, &[156, 625, 2_500], fifteen);
        assert_live(&format!("five, seed {seed}"), &five, 9.0..20.0);
        assert!((2..=4).contains(&five.paused), "seed {seed}: {five:?}");
        // Nine of 31 kbit/s, a quarter more with their headers: fewer pictures of each.
        let nine = seen(seed, &over(250), 9, &[31, 125, 500], thirty);
        assert_live(&format!("nine, seed {seed}"), &nine, 80.0..150.0);
        assert!(nine.paused <= 2, "seed {seed}: {nine:?}");
        // The link carries only one camera.
        let two = seen(seed, &over(150), 2, &[150, 1_350], fifteen);
        assert_live(&format!("two, seed {seed}"), &two, 5.0..12.0);
        assert_eq!(two.paused, 1, "seed {seed}: {two:?}");
    }
}
