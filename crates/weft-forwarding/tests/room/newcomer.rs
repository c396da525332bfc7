//! Viewers who join a running publication: the time to their first picture, and until
//! they are live.

use super::{ada, seconds};
use crate::world::Room;
use weft_forwarding::Publisher;
use weft_testing::pictures::Layers;
use weft_units::{Duration, Instant, Rate};

const COUNT: usize = 12;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// Result for a newcomer.
#[derive(Debug, Clone, Copy)]
struct Newcomer {
    /// Time from the request to the first displayed picture.
    first: Duration,
    /// Mean age of the pictures in one second, starting after a second and a half.
    age: Duration,
}

/// Viewers join, within a second and a half, a publisher who has published for a while;
/// returns them and the number of requested keyframes.
fn newcomers(downlink: &str, layers: Layers) -> (Vec<Newcomer>, u64) {
    let links: Vec<&str> = ["rate=20mbit,delay=5ms"]
        .into_iter()
        .chain(std::iter::repeat_n(downlink, COUNT))
        .collect();
    let mut room = Room::new(1, &links);
    room.published = Rate::from_kbps(2_500);
    room.pictures.1 = layers;
    room.publish(&ada());
    room.run(seconds(4));
    room.browser = true;
    let mut came = Vec::new();
    for place in 0..COUNT as u64 {
        came.push(room.now);
        room.play(&ada());
        room.run(ms(70 + 13 * place));
    }
    room.run(seconds(4));
    let of = |(client, came): (usize, Instant)| {
        let shown = &room.clients[client].record.shown;
        let first = shown.first().expect("a picture").at;
        let from = first + ms(1_500);
        let within = shown
            .iter()
            .filter(|s| s.at >= from && s.at < from + seconds(1));
        let ages: Vec<u64> = within.map(|s| (s.at - s.captured).as_nanos()).collect();
        Newcomer {
            first: first - came,
            age: Duration::from_nanos(ages.iter().sum::<u64>() / ages.len() as u64),
        }
    };
    let all = (1..).zip(came).map(of).collect();
    (all, room.clients[0].camera().keyframes_asked)
}

fn quantile(all: &[Newcomer], part: f64, of: impl Fn(&Newcomer) -> Duration) -> Duration {
    let mut all: Vec<Duration> = all.iter().map(of).collect();
    all.sort();
    all[((all.len() - 1) as f64 * part) as usize]
}

/// The round trip is 30 ms, and the connection takes three of them. Without the packets
/// since the last keyframe, half of the newcomers waited for 290 ms.
#[test]
fn newcomers_see_a_picture_at_once_and_are_soon_live() {
    for layers in [Layers::One, Layers::Three] {
        let (all, keyframes) = newcomers("rate=20mbit,delay=10ms", layers);
        let first = |part| quantile(&all, part, |n| n.first);
        assert!((ms(60)..ms(110)).contains(&first(0.5)), "{all:?}");
        assert!(first(1.0) < ms(300), "{all:?}");
        assert!(quantile(&all, 1.0, |n| n.age) < ms(100), "{all:?}");
        // A second and a half has room for four more, 400 ms apart, after the first one.
        assert!((1..=6).contains(&keyframes), "{keyframes}");
    }
}

/// A link with a fifth more than the published rate has little room to catch up: the
/// delay is 120 to 230 ms for those who wait for a keyframe.
#[test]
fn newcomers_with_a_slow_link_stay_near_the_others() {
    for layers in [Layers::One, Layers::Three] {
        let (all, _) = newcomers("rate=3mbit,delay=20ms", layers);
        assert!(quantile(&all, 0.5, |n| n.first) < ms(280), "{all:?}");
        assert!(quantile(&all, 1.0, |n| n.age) < ms(500), "{all:?}");
    }
}

/// A client checks the server as soon as it has its answer, which then takes another 20
/// ms to the server. The client's next check is 75 ms later.
#[test]
fn checks_that_overtake_an_answer_are_not_lost() {
    let mut room = Room::new(1, &["rate=20mbit,delay=10ms"; 2]);
    room.publish(&ada());
    room.run(seconds(2));
    let bob = Publisher {
        participant: "bob".to_owned(),
        ..ada()
    };
    room.receive_answering_after(&bob, ms(20));
    let accepted = room.now;
    room.run(seconds(1));
    let events = &room.clients[1].record.events;
    let is_up = |event: &weft_secure::Event| {
        matches!(
            event,
            weft_secure::Event::Ice(weft_ice::Event::PathUp { .. })
        )
    };
    let up = events.iter().find(|(_, _, event)| is_up(event));
    let took = up.expect("a path").0 - accepted;
    assert!(took < ms(30), "{took:?}");
}
