//! Session of a forwarder for one player: its memory if the player sends nothing (the
//! packets sent within the time in which they may be requested again), and its pacing.

use std::collections::VecDeque;

use weft_session::{
    Backlog, Config, Feedback, Input, Output, Protocol, Retransmission, SendStreamConfig, Session,
    Transmit,
};
use weft_testing::allocation::{Counting, measure};
use weft_units::{Codec, Duration, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::media::{ForwardedPacket, SharedBytes};
use weft_wire::payload::Content;
use weft_wire::rtp::ExtensionMap;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Highest rate accepted from a publisher, and therefore forwarded.
const RATE: Rate = Rate::from_mbps(100);
/// Payload of each packet; headers and tags take a bit more than a hundred bytes.
const PAYLOAD: usize = 1_100;
/// Packets in four seconds at this rate.
const PACKETS: u64 = 40_000;
const CAMERAS: u32 = 4;

fn camera(session: &mut Session, number: u32) -> StreamId {
    session.add_send_stream(SendStreamConfig {
        ssrc: Ssrc(200 + 2 * number),
        retransmission: Retransmission::Rtx(Ssrc(201 + 2 * number), 97),
        fec: None,
        payload_type: 96,
        codec: Codec::Vp8,
        mid: None,
        rid: None,
        feedback: Feedback::EachPacket,
    })
}

#[test]
fn a_player_that_is_silent_costs_two_seconds_of_what_is_published() {
    let extensions = ExtensionMap {
        path: Some(5),
        ..ExtensionMap::default()
    };
    let mut config = Config::new(extensions, Ssrc(1));
    config.max_rate = RATE;
    config.path_limits.start = RATE;
    config.path_limits.max = RATE;
    let mut session = Session::new(Instant::ZERO, config, Rng::new(1));
    let (path, rtt) = (PathId(0), Duration::from_millis(20));
    session.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
    let cameras: Vec<StreamId> = (0..CAMERAS).map(|n| camera(&mut session, n)).collect();
    let interval = RATE.time_for(weft_units::Bytes(1_200)).expect("a rate");
    let mut now = Instant::ZERO;
    let mut sent = 0;
    let ((), cost) = measure(|| {
        for number in 0..PACKETS {
            now += interval;
            session.handle_input(now, Input::Timeout);
            let packet = ForwardedPacket {
                sequence: 1 + number / u64::from(CAMERAS),
                timestamp: (number / 40) as u32 * 3_000,
                marker: number % 40 >= 36,
                audio_level: None,
                dependency: Box::default(),
                payload: SharedBytes::from(vec![0x10; PAYLOAD]).into(),
                content: Content::Media,
                // A silent player gets only keyframes.
                keyframe: true,
            };
            let to = cameras[(number % u64::from(CAMERAS)) as usize];
            session.send_packet(now, to, &packet).expect("a stream");
            while session.poll_output().is_some() {
                sent += 1;
            }
        }
    });
    println!("{} bytes are held of {sent} packets", cost.peak);
    assert!(sent >= PACKETS, "{sent} went out");
    // As SECURITY.md says, and at least half of it, because otherwise nothing was held.
    assert!((13_000_000..26_500_000).contains(&cost.peak), "{cost:?}");
}

/// Forwarder and its player, ten milliseconds apart on one path.
struct Pair {
    now: Instant,
    ends: [Session; 2],
    camera: StreamId,
    flights: VecDeque<(Instant, usize, Transmit)>,
    sequence: u64,
}

const DELAY: Duration = Duration::from_millis(10);

impl Pair {
    /// Creates a pair on a path that is known to carry exactly this rate.
    fn new(rate: Rate) -> Pair {
        let extensions = ExtensionMap {
            path: Some(5),
            ..ExtensionMap::default()
        };
        let mut config = Config::new(extensions, Ssrc(1));
        config.max_rate = rate;
        config.path_limits.start = rate;
        config.path_limits.max = rate;
        config.backlog = Backlog::Waits { known: Rate::ZERO };
        let session = || Session::new(Instant::ZERO, config.clone(), Rng::new(1));
        let mut ends = [session(), session()];
        let camera = camera(&mut ends[0], 0);
        ends[1].add_receive_stream(weft_session::ReceiveStreamConfig {
            ssrc: Some(Ssrc(200)),
            mid: None,
            rid: None,
            payload_type: 96,
            rtx: Some((Some(Ssrc(201)), 97)),
            fec: None,
            codec: Codec::Vp8,
            delivery: weft_session::Delivery::Packets,
        });
        for end in &mut ends {
            let (path, rtt) = (PathId(0), DELAY * 2);
            end.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
        }
        Pair {
            now: Instant::ZERO,
            ends,
            camera,
            flights: VecDeque::new(),
            sequence: 0,
        }
    }

    /// Forwards a picture whose packets arrive at once; returns how many of them leave at
    /// once.
    fn forward(&mut self, packets: u64) -> usize {
        let before = self.flights.len();
        for number in 1..=packets {
            self.sequence += 1;
            let packet = ForwardedPacket {
                sequence: self.sequence,
                timestamp: (self.now.as_nanos() / 11_111) as u32,
                marker: number == packets,
                audio_level: None,
                dependency: Box::default(),
                payload: SharedBytes::from(vec![0x10; PAYLOAD]).into(),
                content: Content::Media,
                keyframe: true,
            };
            let sent = self.ends[0].send_packet(self.now, self.camera, &packet);
            sent.expect("it has the stream");
        }
        self.drain();
        self.flights.len() - before
    }

    fn drain(&mut self) {
        for (from, end) in self.ends.iter_mut().enumerate() {
            while let Some(output) = end.poll_output() {
                if let Output::Transmit(sent) = output {
                    self.flights.push_back((self.now + DELAY, 1 - from, sent));
                }
            }
        }
    }

    /// Advances the time by a millisecond.
    fn step(&mut self) {
        self.now += Duration::from_millis(1);
        while self.flights.front().is_some_and(|(at, ..)| *at <= self.now) {
            let (_, to, sent) = self.flights.pop_front().expect("it is there");
            let (path, ecn) = (sent.path, sent.ecn);
            let packet = [&sent.packet[..], &sent.rest].concat();
            let packet = &packet[..];
            let input = match sent.protocol {
                Protocol::Rtp => Input::Rtp { path, ecn, packet },
                Protocol::Rtcp => Input::Rtcp { path, packet },
            };
            self.ends[to].handle_input(self.now, input);
        }
        for end in &mut self.ends {
            end.handle_input(self.now, Input::Timeout);
        }
        self.drain();
    }

    /// Forwards small pictures for a second, then a keyframe of 50 packets; returns how
    /// many of its packets leave at once.
    fn keyframe_after_a_second(&mut self) -> usize {
        for ms in 0..1_000 {
            if ms % 33 == 0 {
                self.forward(2);
            }
            self.step();
        }
        self.forward(50)
    }
}

#[test]
fn a_keyframe_leaves_at_once_where_the_path_has_room_and_is_spread_where_it_is_full() {
    // The small pictures take half a megabit a second.
    let together = Pair::new(Rate::from_mbps(5)).keyframe_after_a_second();
    assert_eq!(together, 50);
    let spread = Pair::new(Rate::from_kbps(700)).keyframe_after_a_second();
    assert!((1..=10).contains(&spread), "{spread} packets at once");
    // A new path is unknown.
    let first = Pair::new(Rate::from_mbps(5)).forward(50);
    assert!((1..=10).contains(&first), "{first} packets at once");
}

#[test]
fn a_burst_has_a_bound() {
    let mut pair = Pair::new(Rate::from_mbps(20));
    pair.keyframe_after_a_second();
    for _ in 0..20 {
        pair.step();
    }
    let sent = pair.forward(200);
    assert!((45..=60).contains(&sent), "{sent} packets at once");
}

#[test]
fn forgotten_pictures_are_not_sent_and_not_sent_again() {
    let mut pair = Pair::new(Rate::from_kbps(700));
    let sent = pair.keyframe_after_a_second();
    let other = camera(&mut pair.ends[0], 1);
    pair.ends[0].forget_pictures(Some(other));
    assert!(pair.ends[0].queue_time() > Duration::from_millis(300));
    // Loses the packets that have left.
    pair.flights.retain(|(_, to, _)| *to == 0);
    pair.ends[0].forget_pictures(Some(pair.camera));
    assert_eq!(pair.ends[0].queue_time(), Duration::ZERO);
    for ms in 0..500 {
        if ms % 33 == 0 {
            pair.forward(1);
        }
        pair.step();
    }
    let sender = &pair.ends[0].stats().senders[0];
    // Two packets for each of the 31 small pictures before, and one for each of 16 later
    // ones.
    let media = 62 + sent as u64 + 16;
    assert_eq!((sender.media_packets, sender.retransmissions), (media, 0));
}
