//! Cost that an authenticated peer can cause: each test measures the memory that an input
//! takes and the feedback that it causes.

use weft_session::{
    Config, Delivery, Feedback, FeedbackFormat, Frame, Input, Output, Protocol,
    ReceiveStreamConfig, Retransmission, SendStreamConfig, Session,
};
use weft_testing::allocation::{Counting, measure, tally};
use weft_units::{Codec, Duration, Ecn, Instant, PathId, Rate, Rng, Ssrc};
use weft_wire::flexfec::{Mask, Parity, Repair};
use weft_wire::rtcp as wire;
use weft_wire::rtp::{ExtensionMap, Extensions, Header, PathExtension};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MEDIA: Ssrc = Ssrc(100);
const REPAIR: Ssrc = Ssrc(102);
/// Stream that the session sends.
const OURS: Ssrc = Ssrc(200);
const EXTENSIONS: ExtensionMap = ExtensionMap {
    transport_sequence: Some(3),
    path: Some(5),
    mid: None,
    audio_level: None,
    rid: None,
    repaired_rid: None,
    dependency: None,
};
/// Time between two reports while packets arrive.
const REPORT: Duration = Duration::from_millis(25);
/// Packets of the smallest size that arrive within that time at 5 Mbit/s.
const PACKETS: u16 = 250;

/// Numbers by which feedback names packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Path,
    Transport,
    Stream,
}

struct Victim {
    now: Instant,
    session: Session,
    by: By,
}

/// Cost of an input.
#[derive(Clone, Copy, Default, Debug)]
struct Cost {
    /// Bytes allocated.
    allocated: u64,
    /// Bytes of RTCP sent on one path.
    feedback: usize,
    /// Messages in that RTCP.
    messages: usize,
}

impl Victim {
    fn new(by: By) -> Victim {
        let extensions = match by {
            By::Path => EXTENSIONS,
            By::Transport | By::Stream => ExtensionMap {
                path: None,
                ..EXTENSIONS
            },
        };
        let format = match by {
            By::Stream => FeedbackFormat::Stream,
            By::Path | By::Transport => FeedbackFormat::Transport,
        };
        let config = Config {
            feedback_format: format,
            ..Config::new(extensions, Ssrc(1))
        };
        let mut session = Session::new(Instant::ZERO, config, Rng::new(1));
        session.add_receive_stream(ReceiveStreamConfig {
            ssrc: Some(MEDIA),
            mid: None,
            rid: None,
            payload_type: 96,
            rtx: Some((Some(Ssrc(101)), 97)),
            fec: Some((Some(REPAIR), 98)),
            codec: Codec::Vp8,
            delivery: Delivery::Packets,
        });
        let (path, rtt) = (PathId(0), Duration::from_millis(20));
        session.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
        let mut victim = Victim {
            now: Instant::ZERO,
            session,
            by,
        };
        // An ordinary start.
        let first = victim.packet(MEDIA, 0, 0, 0);
        victim.attack(std::iter::once(first));
        victim
    }

    /// Builds a packet that feedback names by `number`.
    fn packet(&self, ssrc: Ssrc, path: u8, sequence: u16, number: u16) -> Vec<u8> {
        let (sequence, path, transport) = match self.by {
            By::Path => (sequence, Some(path), None),
            By::Transport => (sequence, None, Some(number)),
            By::Stream => (number, None, None),
        };
        let header = Header {
            payload_type: 96,
            sequence,
            ssrc,
            extensions: Extensions {
                transport_sequence: transport,
                path: path.map(|path| PathExtension {
                    path: PathId(path),
                    stream_sequence: sequence,
                    transport_sequence: number,
                }),
                ..Extensions::default()
            },
            ..Header::default()
        };
        let mut packet = Vec::new();
        header.write(&EXTENSIONS, &mut packet);
        packet.extend_from_slice(&[0x10, 0, 0, 0]);
        packet
    }

    /// Delivers a repair packet of this length for a hundred media packets that have not
    /// arrived, from 200 after this one on.
    fn repair(&mut self, after: u16, length: usize) {
        let mut repair = Repair {
            mask: Mask::new(after.wrapping_add(200), 0..100),
            parity: Parity::default(),
        };
        let mut packet = self.packet(MEDIA, 0, 0, 0);
        packet.resize(length, 0);
        repair.parity.add(&packet).expect("it is a packet");
        let header = Header {
            payload_type: 98,
            ssrc: REPAIR,
            ..Header::default()
        };
        let mut packet = Vec::new();
        header.write_with_sources(&EXTENSIONS, &[MEDIA], &mut packet);
        repair.write(&mut packet);
        let (path, ecn, packet) = (PathId(0), Ecn::NotEct, &packet[..]);
        let input = Input::Rtp { path, ecn, packet };
        self.session.handle_input(self.now, input);
    }

    /// Returns the cost of the packets and of the report that follows.
    fn attack(&mut self, packets: impl Iterator<Item = Vec<u8>>) -> Cost {
        let packets: Vec<Vec<u8>> = packets.collect();
        let (before, path, ecn) = (tally().taken, PathId(0), Ecn::NotEct);
        for packet in &packets {
            let input = Input::Rtp { path, ecn, packet };
            self.session.handle_input(self.now, input);
        }
        self.now += REPORT;
        self.session.handle_input(self.now, Input::Timeout);
        let mut cost = Cost::default();
        while let Some(output) = self.session.poll_output() {
            if let Output::Transmit(sent) = output
                && sent.protocol == Protocol::Rtcp
            {
                cost.feedback += sent.packet.len();
                cost.messages += 1;
            }
        }
        cost.allocated = tally().taken - before;
        println!("{:?}: {cost:?}", self.by);
        cost
    }
}

/// Memory for any kind of packet, its entries in logs, and its share of the reports.
const PER_PACKET: u64 = 1_000;
/// Memory for a report with the widest gaps that are reported.
const PER_REPORT: u64 = 300_000;

fn assert_bounded(cost: Cost) {
    let most = u64::from(PACKETS) * PER_PACKET + PER_REPORT;
    assert!(cost.allocated < most, "{cost:?}");
    assert!(cost.feedback < 20_000, "{cost:?}");
    assert!(cost.messages <= 128, "{cost:?}");
}

#[test]
fn the_peer_learns_its_maximum_rate_on_change_and_with_each_report() {
    let mut victim = Victim::new(By::Path);
    let told = |victim: &mut Victim, kbps: Option<u64>| {
        if let Some(kbps) = kbps {
            victim.session.set_peer_limit(Rate::from_kbps(kbps));
        }
        let mut told = Vec::new();
        while let Some(output) = victim.session.poll_output() {
            if let Output::Transmit(sent) = output
                && let Ok(packets) = wire::parse_compound(&sent.packet, &mut 1_000)
                && sent.protocol == Protocol::Rtcp
            {
                told.extend(packets.into_iter().filter_map(|packet| match packet {
                    wire::Packet::Remb(remb) => Some((remb.rate.as_bps() / 1_000, remb.ssrcs)),
                    _ => None,
                }));
            }
        }
        told
    };
    assert_eq!(told(&mut victim, None), []);
    assert_eq!(told(&mut victim, Some(800)), [(800, vec![MEDIA])]);
    assert_eq!(told(&mut victim, Some(810)), []);
    assert_eq!(told(&mut victim, Some(700)), [(700, vec![MEDIA])]);
    victim.now += Duration::from_millis(1_200);
    victim.session.handle_input(victim.now, Input::Timeout);
    assert_eq!(told(&mut victim, None), [(700, vec![MEDIA])]);
}

#[test]
fn numbers_that_jump_cost_no_more_than_the_packets_that_bear_them() {
    for (by, step) in [(By::Path, 8_000), (By::Transport, 8_000), (By::Stream, 900)] {
        let mut victim = Victim::new(by);
        for round in 0..4_u16 {
            let numbers = (1..=PACKETS).map(|i| round * PACKETS + i);
            let packets: Vec<_> = numbers
                .map(|i| victim.packet(MEDIA, 0, i, i.wrapping_mul(step)))
                .collect();
            assert_bounded(victim.attack(packets.into_iter()));
        }
    }
}

#[test]
fn packets_after_a_jump_and_a_real_gap_are_reported() {
    for by in [By::Path, By::Transport] {
        let mut victim = Victim::new(by);
        // A thousand packets are lost, then the numbers restart.
        let numbers = [1, 1002, 1003, 30_000, 30_001];
        let packets: Vec<_> = (1..)
            .zip(numbers)
            .map(|(i, number)| victim.packet(MEDIA, 0, i, number))
            .collect();
        let cost = victim.attack(packets.into_iter());
        // The report starts with the last reported packet and covers both sides of the
        // jump.
        assert_eq!(cost.messages, 2, "{cost:?}");
    }
}

#[test]
fn paths_that_nobody_has_are_not_remembered_beyond_a_few() {
    let mut victim = Victim::new(By::Path);
    let packets: Vec<_> = (0..=255)
        .map(|path| victim.packet(MEDIA, path, path.into(), 0))
        .collect();
    let cost = victim.attack(packets.into_iter());
    assert!(cost.messages <= 16, "{cost:?}");
}

#[test]
fn packets_of_unknown_streams_are_not_reported() {
    for by in [By::Path, By::Transport, By::Stream] {
        let mut victim = Victim::new(by);
        victim.attack(std::iter::empty());
        let packets: Vec<_> = (0..100)
            .map(|i| victim.packet(Ssrc(1_000 + u32::from(i)), 0, i, i + 1))
            .collect();
        let cost = victim.attack(packets.into_iter());
        assert_eq!(cost.messages, 0, "{by:?}: {cost:?}");
    }
}

#[test]
fn sequence_numbers_that_jump_take_no_place_for_what_lies_between() {
    for step in [450, 2_000, 8_000] {
        let mut victim = Victim::new(By::Path);
        let packets: Vec<_> = (1..=PACKETS)
            .map(|i| victim.packet(MEDIA, 0, i.wrapping_mul(step), i))
            .collect();
        let cost = victim.attack(packets.into_iter());
        assert!(cost.allocated < 600_000, "{step}: {cost:?}");
    }
}

/// Builds RTCP by hand: whole words after a header.
fn rtcp(packet_type: u8, count: u8, body: &[u8]) -> Vec<u8> {
    let words = (body.len() / 4) as u16;
    let mut packet = vec![0x80 | count, packet_type];
    packet.extend_from_slice(&words.to_be_bytes());
    packet.extend_from_slice(body);
    packet
}

/// Builds transport-wide feedback that names 32,000 packets, all lost, in about twenty
/// bytes.
fn runs_of_lost() -> Vec<u8> {
    let mut body = Vec::new();
    for word in [1_u32, OURS.0, 32_000, 0] {
        body.extend_from_slice(&word.to_be_bytes());
    }
    for run in [8_000_u16; 4] {
        body.extend_from_slice(&run.to_be_bytes());
    }
    rtcp(205, 15, &body)
}

/// Builds a datagram that requests about 5,000 packets again.
fn long_nack() -> Vec<u8> {
    let mut body = Vec::new();
    for word in [1, OURS.0] {
        body.extend_from_slice(&u32::to_be_bytes(word));
    }
    for i in 0..297_u16 {
        body.extend_from_slice(&(i * 17).to_be_bytes());
        body.extend_from_slice(&[0xff, 0xff]);
    }
    rtcp(205, 1, &body)
}

/// Returns a session that has sent a second of pictures and got no feedback.
fn sender(by: By) -> Victim {
    let mut victim = Victim::new(by);
    let stream = victim.session.add_send_stream(SendStreamConfig {
        ssrc: OURS,
        retransmission: Retransmission::Rtx(Ssrc(201), 97),
        fec: None,
        payload_type: 96,
        codec: Codec::Vp8,
        mid: None,
        rid: None,
        feedback: Feedback::EachPacket,
    });
    for number in 0..30_u32 {
        let frame = Frame {
            keyframe: number == 0,
            ..Frame::new(&[1; 1500], number * 3000, victim.now)
        };
        let sent = victim.session.send_frame(victim.now, stream, &frame);
        sent.expect("it has the stream");
        victim.now += Duration::from_millis(33);
        victim.session.handle_input(victim.now, Input::Timeout);
        while victim.session.poll_output().is_some() {}
    }
    victim
}

/// Returns the memory that this many datagrams allocate within a second.
fn flood(victim: &mut Victim, datagram: &[u8]) -> u64 {
    const DATAGRAMS: u64 = 1_000;
    let (before, path) = (tally().taken, PathId(0));
    for _ in 0..DATAGRAMS {
        victim.now += Duration::from_secs(1) / DATAGRAMS;
        let packet = datagram;
        let input = Input::Rtcp { path, packet };
        victim.session.handle_input(victim.now, input);
        while victim.session.poll_output().is_some() {}
    }
    let allocated = tally().taken - before;
    println!("{:?}: {allocated} bytes", victim.by);
    allocated
}

#[test]
fn feedback_takes_no_memory_for_what_was_never_sent() {
    for by in [By::Path, By::Transport, By::Stream] {
        let allocated = flood(&mut sender(by), &runs_of_lost());
        assert!(allocated < 1_000_000, "{by:?}: {allocated}");
    }
}

#[test]
fn requests_for_packets_are_looked_up_within_a_budget() {
    let mut victim = sender(By::Path);
    flood(&mut victim, &long_nack());
    let nacked = victim.session.stats().senders[0].nacked;
    assert!(nacked < 200_000, "{nacked} looked up");
    assert!(victim.session.stats().drops.over_budget > 900);
}

#[test]
fn small_messages_are_handled_within_a_budget() {
    // Three hundred keyframe requests in full intra requests of 8 bytes each, and as many
    // empty BYE packets.
    let requests: Vec<u8> = std::iter::once([0, 0, 0, 1, 0, 0, 0, 0])
        .chain((0..148).map(|i| [0, 0, 0, 200, i, 0, 0, 0]))
        .flatten()
        .collect();
    let goodbyes = rtcp(203, 0, &[]).repeat(300);
    for datagram in [rtcp(206, 4, &requests), goodbyes] {
        let mut victim = sender(By::Path);
        flood(&mut victim, &datagram);
        let dropped = victim.session.stats().drops.over_budget;
        assert!(dropped > 900, "{dropped} of a thousand");
    }
}

#[test]
fn a_peer_that_reports_often_stays_within_its_budget() {
    // Four hundred reports a second, as for eight paths plus half as many again, and a
    // receiver report with each.
    let mut datagram = rtcp(201, 0, &[0, 0, 0, 1]);
    datagram.extend(rtcp(206, 1, &[0, 0, 0, 1, 0, 0, 0, 200]));
    let mut victim = sender(By::Path);
    for _ in 0..4_000 {
        victim.now += Duration::from_micros(2_500);
        let (path, packet) = (PathId(0), &datagram[..]);
        let input = Input::Rtcp { path, packet };
        victim.session.handle_input(victim.now, input);
        while victim.session.poll_output().is_some() {}
    }
    assert_eq!(victim.session.stats().drops.over_budget, 0);
}

/// Memory of one video stream whose sender does everything that it can at once: before
/// the next report, it sends the smallest packets on more paths than exist, with each
/// path's numbers and copies of other paths' packets; the longest packets, which are kept
/// for repair packets; and repair packets of the longest kind, each of which lacks all
/// but one of a hundred packets.
#[test]
fn memory_of_one_hostile_stream_is_bounded() {
    /// Logs of 16 paths with 4,096 arrivals and as many copies; 512 packets of 2,000
    /// bytes; 128 repair packets; rings of numbers. Growing lists have room for twice
    /// their content.
    const COMPUTED: i64 = 16 * 4_096 * (2 * 24 + 2 * 16) + 512 * 2_048 + 128 * 2_048 + 200_000;
    const LONG: usize = 1_900;
    let mut victim = Victim::new(By::Path);
    let (path, ecn) = (PathId(0), Ecn::NotEct);
    let long = |mut packet: Vec<u8>| {
        packet.resize(LONG, 0);
        packet
    };
    let ((), cost) = measure(|| {
        victim.repair(0, LONG);
        let mut sequence = 0_u16;
        for round in 0..80_000_u32 {
            sequence = sequence.wrapping_add(1);
            let number = (round / 20) as u16;
            let packet = victim.packet(MEDIA, (round % 20) as u8, sequence, number);
            let packet = match round >= 79_000 {
                true => long(packet),
                false => packet,
            };
            let packet = &packet;
            for input in [
                Input::Rtp { path, ecn, packet },
                Input::RtpAgain { path, ecn, packet },
            ] {
                victim.session.handle_input(victim.now, input);
            }
            while victim.session.poll_output().is_some() {}
        }
        (0..200).for_each(|_| victim.repair(sequence, LONG));
    });
    println!("{} bytes are held, {} at most", cost.kept, cost.peak);
    assert!(cost.kept > COMPUTED / 4, "{cost:?} of {COMPUTED}");
    assert!(cost.peak < COMPUTED as u64, "{cost:?} of {COMPUTED}");
}
