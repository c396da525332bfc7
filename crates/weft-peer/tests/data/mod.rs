//! Data channels in a video call while links fail.

use std::collections::BTreeSet;

use weft_peer::data::{
    ChannelConfig, ChannelId, Event, Message, OpenError, Ordering, Persistence, SendError, Urgency,
};
use weft_units::{Duration, Instant};

use crate::common::{Side, TestCall};
use crate::world::{Setup, World};

const TWO: [&str; 2] = ["rate=5mbit,delay=25ms", "rate=4mbit,delay=40ms"];
const LOSSY: [&str; 2] = [
    "rate=5mbit,delay=25ms,loss=1%",
    "rate=4mbit,delay=40ms,loss=1%",
];
/// 50 messages a second.
const INTERVAL: Duration = Duration::from_millis(20);
const DEADLINE: Duration = Duration::from_millis(100);

fn setup(seed: u64, offerer: Side) -> Setup {
    Setup {
        offerer,
        data: vec![Side::Sender, Side::Receiver],
        ..Setup::new(seed, &TWO)
    }
}

fn control() -> ChannelConfig {
    ChannelConfig {
        ordering: Ordering::Unordered,
        persistence: Persistence::Within(DEADLINE),
        ..ChannelConfig::named("control")
    }
}

fn open(world: &mut World, side: Side, config: ChannelConfig) -> ChannelId {
    let (peer, now) = world.side(side);
    let channel = peer
        .open_channel(now, config)
        .expect("both sides have data channels");
    world.run(Duration::from_secs(1));
    let opened = |(_, _, event): &(_, _, Event)| matches!(event, Event::Opened { channel: c, .. } if *c == channel);
    let sides = world.record().data.iter().filter(|e| opened(e)).count();
    assert_eq!(sides, 2, "{:?}", world.record().data);
    channel
}

fn other(side: Side) -> Side {
    match side {
        Side::Sender => Side::Receiver,
        Side::Receiver => Side::Sender,
    }
}

/// Number of messages of 200 bytes that arrived within the deadline, and of all, while
/// each link was cut for three seconds.
fn in_time(links: [&'static str; 2], seed: u64, from: Side, urgency: Urgency) -> (usize, usize) {
    let setup = setup(seed, Side::Sender);
    let mut world = World::new(&Setup {
        links: links.to_vec(),
        ..setup
    });
    world.run(Duration::from_secs(3));
    let channel = open(&mut world, from, control());
    let mut sent: Vec<Instant> = Vec::new();
    for step in 0..1000 {
        match step {
            200 => world.cut(0),
            350 => world.restore(0),
            600 => world.cut(1),
            750 => world.restore(1),
            _ => {}
        }
        let mut payload = vec![0; 200];
        payload[..8].copy_from_slice(&sent.len().to_be_bytes());
        let (peer, now) = world.side(from);
        sent.push(now);
        // A refused message counts as late.
        let _ = peer.send_message(now, channel, &Message::Binary(payload), urgency);
        world.run(INTERVAL);
    }
    world.run(Duration::from_secs(1));
    let mut seen = BTreeSet::new();
    for (at, side, event) in &world.record().data {
        if let Event::Message { message, .. } = event
            && *side == other(from)
        {
            let Message::Binary(bytes) = message else {
                panic!("{message:?}")
            };
            let number = usize::from_be_bytes(bytes[..8].try_into().expect("eight bytes"));
            if *at - sent[number] <= DEADLINE {
                assert!(seen.insert(number), "{number} came twice");
            }
        }
    }
    (seen.len(), sent.len())
}

/// Prints and returns the share of messages from both sides and six seeds that arrived
/// within the deadline.
fn part_in_time(links: [&'static str; 2], urgency: Urgency) -> f64 {
    let mut total = (0, 0);
    for from in [Side::Sender, Side::Receiver] {
        for seed in 1..=6 {
            let (arrived, sent) = in_time(links, seed, from, urgency);
            total = (total.0 + arrived, total.1 + sent);
        }
    }
    println!(
        "{urgency:?}, {links:?}: {} of {} within 100 ms",
        total.0, total.1
    );
    total.0 as f64 / total.1 as f64
}

#[test]
fn urgent_messages_arrive_in_time_while_either_link_is_cut() {
    assert!(part_in_time(TWO, Urgency::Urgent) >= 0.999);
    // While one link is cut, a packet that the other one loses is late.
    assert!(part_in_time(LOSSY, Urgency::Urgent) >= 0.995);
}

#[test]
fn usual_messages_change_to_the_link_that_lives() {
    // A failed link is noticed when an acknowledgement is overdue: after about 0.6 s.
    assert!(part_in_time(TWO, Urgency::Usual) >= 0.92);
}

#[test]
fn either_side_may_offer_and_media_is_not_disturbed() {
    for offerer in [Side::Sender, Side::Receiver] {
        let mut world = World::new(&setup(7, offerer));
        world.run(Duration::from_secs(3));
        let channel = open(&mut world, Side::Receiver, ChannelConfig::named("file"));
        let start = world.now();
        let large = Message::Binary(vec![3; 60_000]);
        let (peer, now) = world.side(Side::Receiver);
        for _ in 0..4 {
            peer.send_message(now, channel, &large, Urgency::Usual)
                .expect("is kept");
        }
        world.run(Duration::from_secs(6));
        let arrived = world.record().data.iter();
        let arrived = arrived
            .filter(|(_, _, e)| matches!(e, Event::Message { message, .. } if *message == large));
        assert_eq!(arrived.count(), 4);
        let gap = world.record().longest_gap(start, world.now());
        assert!(gap < Duration::from_millis(250), "{gap:?}");
    }
}

#[test]
fn data_channels_need_both_sides() {
    for wants in [Side::Sender, Side::Receiver] {
        let mut world = World::new(&Setup {
            data: vec![wants],
            ..Setup::new(8, &TWO)
        });
        world.run(Duration::from_secs(3));
        for side in [Side::Sender, Side::Receiver] {
            let (peer, now) = world.side(side);
            assert!(!peer.has_data_channels());
            let opened = peer.open_channel(now, control());
            assert_eq!(opened, Err(OpenError::NotNegotiated));
            let sent = peer.send_message(
                now,
                ChannelId(0),
                &Message::Text("x".into()),
                Urgency::Urgent,
            );
            assert_eq!(sent, Err(SendError::NotOpen));
        }
        assert!(world.record().shown.len() > 60);
    }
}
