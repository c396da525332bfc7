use crate::channels::{DataChannels, SCTP_PORT};
use crate::opening::{ChannelConfig, Opening, Ordering, Persistence};
use crate::packet::has_data;
use crate::{ChannelId, Config, Event, Output};
use crate::{MAX_CHANNELS, MAX_MESSAGE, Message, OpenError, SendError, Urgency};
use std::time::Instant as StdInstant;
use weft_units::{Duration, Instant};

const ONE_WAY: Duration = Duration::from_millis(20);

/// Two ends with a delay between them; `drop` decides about each packet.
struct World {
    now: Instant,
    ends: [DataChannels; 2],
    under_way: Vec<(Instant, usize, Vec<u8>)>,
    events: [Vec<Event>; 2],
    sent: Vec<(usize, usize, bool)>,
    is_dead: bool,
}

impl World {
    #[allow(clippy::disallowed_methods)]
    fn new() -> World {
        let end = |is_dtls_client| {
            DataChannels::new(Config {
                is_dtls_client,
                remote_port: SCTP_PORT,
                max_message: MAX_MESSAGE,
                epoch: StdInstant::now(),
            })
        };
        World {
            now: Instant::ZERO + Duration::from_secs(9),
            ends: [end(true), end(false)],
            under_way: Vec::new(),
            events: [Vec::new(), Vec::new()],
            sent: Vec::new(),
            is_dead: false,
        }
    }

    fn connected() -> World {
        let mut world = World::new();
        for end in &mut world.ends {
            end.connect(world.now);
        }
        world.run(Duration::from_millis(200));
        world
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            self.collect();
            let arrivals = self.under_way.iter().map(|(at, ..)| *at);
            let timers = self.ends.iter().filter_map(|e| Some(e.poll_timeout()?.at));
            let next = arrivals.chain(timers).min().filter(|at| *at <= end);
            let Some(next) = next else {
                self.now = end;
                return;
            };
            self.now = self.now.max(next);
            let now = self.now;
            let (due, later) = std::mem::take(&mut self.under_way)
                .into_iter()
                .partition(|(at, ..)| *at <= now);
            self.under_way = later;
            for (_, to, packet) in due {
                self.ends[to].handle_packet(now, &packet);
            }
            for end in &mut self.ends {
                end.handle_timeout(now);
            }
        }
    }

    fn collect(&mut self) {
        for from in 0..2 {
            while let Some(output) = self.ends[from].poll_output() {
                match output {
                    Output::Packet {
                        packet, is_copied, ..
                    } => {
                        self.sent.push((from, packet.len(), is_copied));
                        if !self.is_dead {
                            self.under_way.push((self.now + ONE_WAY, 1 - from, packet));
                        }
                    }
                    Output::Event(event) => self.events[from].push(event),
                }
            }
        }
    }

    fn open(&mut self, from: usize, config: ChannelConfig) -> ChannelId {
        let id = self.ends[from].open(self.now, config).expect("opens");
        self.run(Duration::from_millis(200));
        id
    }

    fn messages(&self, end: usize) -> Vec<&Message> {
        fn message(event: &Event) -> Option<&Message> {
            match event {
                Event::Message { message, .. } => Some(message),
                _ => None,
            }
        }
        self.events[end].iter().filter_map(message).collect()
    }
}

fn text(text: &str) -> Message {
    Message::Text(text.to_owned())
}

#[test]
fn both_sides_open_channels_with_their_own_numbers_and_talk() {
    let mut world = World::connected();
    let ours = world.open(0, ChannelConfig::named("chat"));
    let theirs = world.open(1, ChannelConfig::named("figures"));
    assert_eq!((ours, theirs), (ChannelId(0), ChannelId(1)));
    for (end, channel) in [(0, ours), (1, theirs)] {
        for id in 0..2 {
            let opened = |e: &Event| matches!(e, Event::Opened { channel: c, .. } if *c == channel);
            assert!(world.events[id].iter().any(opened), "{id} of {end}");
        }
    }
    let now = world.now;
    let all = [
        text("hello"),
        text(""),
        Message::Binary(vec![]),
        Message::Binary(vec![7; MAX_MESSAGE]),
    ];
    for message in &all {
        world.ends[0]
            .send(now, theirs, message, Urgency::Usual)
            .expect("goes");
    }
    world.run(Duration::from_secs(3));
    assert_eq!(world.messages(1), all.iter().collect::<Vec<_>>());
}

#[test]
fn a_channel_that_is_wanted_before_the_connection_opens_with_it() {
    let mut world = World::new();
    let id = world.ends[1].open(world.now, ChannelConfig::named("early"));
    assert_eq!(id, Ok(ChannelId(1)));
    let refused = world.ends[1].send(world.now, ChannelId(1), &text("x"), Urgency::Usual);
    assert_eq!(refused, Err(SendError::NotOpen));
    for end in &mut world.ends {
        end.connect(world.now);
    }
    world.run(Duration::from_millis(300));
    assert!(
        matches!(&world.events[0][..], [Event::Opened { config, .. }] if config.label == "early")
    );
}

#[test]
fn acknowledgements_and_urgent_messages_are_copied_and_usual_messages_are_not() {
    let mut world = World::connected();
    let id = world.open(0, ChannelConfig::named("control"));
    for (urgency, copied) in [(Urgency::Usual, false), (Urgency::Urgent, true)] {
        world.sent.clear();
        let now = world.now;
        let message = Message::Binary(vec![1; 200]);
        world.ends[0]
            .send(now, id, &message, urgency)
            .expect("goes");
        world.run(Duration::from_millis(300));
        let data: Vec<_> = world
            .sent
            .iter()
            .filter(|s| s.0 == 0 && s.1 > 200)
            .collect();
        assert_eq!(data.len(), 1);
        assert_eq!(data[0].2, copied, "{urgency:?}");
        let answers: Vec<_> = world.sent.iter().filter(|s| s.0 == 1).collect();
        assert!(!answers.is_empty() && answers.iter().all(|s| s.2));
    }
}

#[test]
fn a_message_with_a_deadline_is_given_up_and_a_reliable_one_is_not() {
    let mut world = World::connected();
    let reliable = world.open(0, ChannelConfig::named("reliable"));
    let timed = world.open(
        0,
        ChannelConfig {
            ordering: Ordering::Unordered,
            persistence: Persistence::Within(Duration::from_millis(100)),
            ..ChannelConfig::named("timed")
        },
    );
    world.is_dead = true;
    let now = world.now;
    for (id, message) in [(timed, "old"), (reliable, "kept")] {
        let message = text(message);
        world.ends[0]
            .send(now, id, &message, Urgency::Usual)
            .expect("goes");
    }
    world.run(Duration::from_millis(1500));
    world.is_dead = false;
    world.run(Duration::from_secs(5));
    assert_eq!(world.messages(1), [&text("kept")]);
}

#[test]
fn an_outage_of_minutes_ends_nothing() {
    let mut world = World::connected();
    let id = world.open(0, ChannelConfig::named("tunnel"));
    world.is_dead = true;
    let now = world.now;
    world.ends[0]
        .send(now, id, &text("x"), Urgency::Usual)
        .expect("goes");
    world.run(Duration::from_secs(170));
    world.is_dead = false;
    world.run(Duration::from_secs(4));
    assert_eq!(world.messages(1), [&text("x")]);
}

#[test]
fn a_closed_channel_is_closed_on_both_sides_and_its_number_is_used_again() {
    let mut world = World::connected();
    let id = world.open(0, ChannelConfig::named("one"));
    let now = world.now;
    world.ends[0].close(now, id);
    world.run(Duration::from_secs(2));
    for end in 0..2 {
        let closed = Event::Closed { channel: id };
        assert!(world.events[end].contains(&closed), "{end}");
    }
    let refused = world.ends[0].send(world.now, id, &text("x"), Urgency::Usual);
    assert_eq!(refused, Err(SendError::NotOpen));
    assert_eq!(world.open(0, ChannelConfig::named("two")), id);
    assert!(
        world.events[1]
            .iter()
            .any(|e| { matches!(e, Event::Opened { config, .. } if config.label == "two") })
    );
}

#[test]
fn long_or_numerous_values_are_refused() {
    let mut world = World::connected();
    let id = world.open(0, ChannelConfig::named("full"));
    let now = world.now;
    let long = Message::Binary(vec![0; MAX_MESSAGE + 1]);
    let sent = world.ends[0].send(now, id, &long, Urgency::Usual);
    assert!(matches!(sent, Err(SendError::TooLong { .. })));
    let large = Message::Binary(vec![0; MAX_MESSAGE]);
    let refused = (0..100).find_map(|_| world.ends[0].send(now, id, &large, Urgency::Usual).err());
    assert!(matches!(refused, Some(SendError::Full { waiting }) if waiting > 900_000));
    let name = "n".repeat(ChannelConfig::MAX_NAME + 1);
    let opened = world.ends[0].open(now, ChannelConfig::named(&name));
    assert_eq!(opened, Err(OpenError::LongName));
    let opened = (0..=MAX_CHANNELS).find_map(|_| {
        let config = ChannelConfig::named("many");
        world.ends[0].open(now, config).err()
    });
    assert_eq!(opened, Some(OpenError::TooMany));
}

#[test]
fn the_peers_channels_are_bounded() {
    let mut world = World::connected();
    for _ in 0..MAX_CHANNELS / 2 + 8 {
        // Each end counts the channels of both.
        for end in 0..2 {
            let _ = world.ends[end].open(world.now, ChannelConfig::named("x"));
        }
    }
    world.run(Duration::from_secs(5));
    for end in 0..2 {
        let opened = world.events[end].iter();
        let opened = opened.filter(|e| matches!(e, Event::Opened { .. })).count();
        assert!(
            (MAX_CHANNELS / 2..=MAX_CHANNELS).contains(&opened),
            "{opened}"
        );
    }
}

#[test]
fn packets_that_are_none_are_counted() {
    let mut world = World::connected();
    let before = world.ends[1].discarded();
    for packet in [&[][..], &[0; 11], &[0; 40], &[255; 1100]] {
        world.ends[1].handle_packet(world.now, packet);
    }
    assert_eq!(world.ends[1].discarded(), before + 4);
    let id = world.open(0, ChannelConfig::named("still"));
    let now = world.now;
    world.ends[0]
        .send(now, id, &text("here"), Urgency::Usual)
        .expect("goes");
    world.run(Duration::from_millis(500));
    assert_eq!(world.messages(1), [&text("here")]);
}

#[test]
fn openings_are_read_as_they_are_written() {
    for ordering in [Ordering::Ordered, Ordering::Unordered] {
        for persistence in [
            Persistence::Reliable,
            Persistence::Repeats(3),
            Persistence::Within(Duration::from_millis(250)),
        ] {
            let open = Opening::Open(ChannelConfig {
                label: "Steuerung ü".to_owned(),
                protocol: "json".to_owned(),
                ordering,
                persistence,
            });
            let bytes = open.bytes();
            assert_eq!(Opening::parse(&bytes), Some(open));
            for cut in 0..bytes.len() {
                assert_eq!(Opening::parse(&bytes[..cut]), None, "{cut}");
            }
        }
    }
    assert_eq!(Opening::parse(&[2]), Some(Opening::Ack));
    assert_eq!(
        Opening::parse(&[3, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        None
    );
}

#[test]
fn data_is_found_behind_other_chunks() {
    let header = [0; 12];
    let sack = [3, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let data = [0, 3, 0, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0];
    assert!(!has_data(&[&header[..], &sack].concat()));
    assert!(has_data(&[&header[..], &sack, &data].concat()));
    // A length of 0 does not cause an endless search.
    assert!(!has_data(
        &[&header[..], &[3, 0, 0, 0, 5, 0, 0, 0]].concat()
    ));
}
