use super::support::*;
use crate::receive::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use weft_units::{Instant, Rng};

/// Any packet that an authenticated peer could send, in any order.
#[derive(Clone, Debug)]
struct Arbitrary {
    wait_us: u64,
    sequence: u64,
    timestamp: u32,
    path: u8,
    number: Option<u16>,
    marker: bool,
    recovered: bool,
    payload: Vec<u8>,
}

fn arbitrary() -> impl Strategy<Value = Arbitrary> {
    let sequence = prop_oneof![
        8 => 65_536..66_200_u64,
        2 => 65_536..80_000_u64,
        1 => any::<u16>().prop_map(|s| 65_536 + u64::from(s)),
    ];
    let timestamp = prop_oneof![
        8 => (0..60_u32).prop_map(|n| n * 3_000),
        1 => any::<u32>(),
    ];
    let payload = prop_oneof![
        // Start of a frame, middle of a frame, and arbitrary bytes.
        Just(vec![0x10, 0x00, 1, 2]),
        Just(vec![0x10, 0x01, 1, 2]),
        Just(vec![0x00, 7]),
        (0..4_u8, any::<u8>(), any::<u8>())
            .prop_map(|(layer, id, tl0)| { vec![0x90, 0xe0, id & 0x7f, tl0, layer << 6, 1] }),
        proptest::collection::vec(any::<u8>(), 0..20),
    ];
    let head = (
        prop_oneof![9 => 0..5_000_u64, 1 => 0..3_000_000_u64],
        sequence,
        timestamp,
    );
    let tail = (
        0..3_u8,
        proptest::option::of(any::<u16>()),
        any::<bool>(),
        proptest::bool::weighted(0.1),
        payload,
    );
    (head, tail).prop_map(
        |((wait_us, sequence, timestamp), (path, number, marker, recovered, payload))| Arbitrary {
            wait_us,
            sequence,
            timestamp,
            path,
            number,
            marker,
            recovered,
            payload,
        },
    )
}

fn play(receiver: Receiver, packets: Vec<Arbitrary>) -> Wire {
    let mut wire = Wire::new(receiver);
    let mut now = Instant::ZERO;
    for packet in packets {
        now += weft_units::Duration::from_micros(packet.wait_us);
        let packet = ReceivedPacket {
            path: weft_units::PathId(packet.path),
            sequence: packet.sequence,
            stream_sequence: packet.number,
            timestamp: packet.timestamp,
            marker: packet.marker,
            audio_level: None,
            dependency: &[],
            payload: packet.payload.leak(),
            recovered: packet.recovered,
        };
        wire.deliver(now, packet);
        wire.run(now);
        wire.receiver.assert_bounded();
    }
    wire.run(now + ms(60_000));
    wire
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_number_that_did_not_arrive_is_missing(
        steps in proptest::collection::vec(
            prop_oneof![
                8 => -6..6_i64,
                2 => -600..600_i64,
                1 => -3_000..5_000_i64,
            ],
            1..200,
        ),
        (after, width) in (0..9_000_u64, 0..4_000_u64),
    ) {
        let mut buffer = PacketBuffer::new();
        let (mut number, mut came) = (70_000_u64, BTreeSet::new());
        let (first, mut highest) = (number, number);
        buffer.insert(number);
        came.insert(number);
        for step in steps {
            number = number.saturating_add_signed(step).max(first);
            buffer.insert(number);
            came.insert(number);
            highest = highest.max(number);
        }
        let (after, before) = (first + after, first + after + width);
        let oldest = highest.saturating_sub(packet_buffer::CAPACITY - 1).max(first);
        let expected = (oldest..highest)
            .filter(|n| after < *n && *n < before && !came.contains(n));
        let missing = buffer.missing_between(after, before);
        prop_assert_eq!(missing.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn anything_is_survived_within_bounds(
        packets in proptest::collection::vec(arbitrary(), 0..300),
        frames in any::<bool>(),
        sound in any::<bool>(),
    ) {
        let delivery = if frames { Delivery::Frames } else { Delivery::Packets };
        let receiver = if sound { audio(delivery) } else { video(delivery) };
        let wire = play(receiver, packets);
        let stats = wire.receiver.stats();
        prop_assert!(stats.repair.requested >= stats.repair.nacks);
        // 500 a second plus the burst.
        let span = wire.events.last().map_or(0.0, |(at, _)| at.as_secs_f64());
        prop_assert!(stats.repair.requested as f64 <= 250.0 + 500.0 * span + 1.0);
    }

    #[test]
    fn a_packet_is_passed_on_once_at_most(
        order in proptest::collection::vec((0..400_u64, 0..2_000_u64), 1..800),
    ) {
        let mut wire = Wire::new(video(Delivery::Packets));
        let mut now = Instant::ZERO;
        let mut sent = BTreeSet::new();
        for (index, wait_us) in order {
            now += weft_units::Duration::from_micros(wait_us);
            sent.insert(FIRST + index);
            wire.deliver(now, ReceivedPacket {
                path: A,
                sequence: FIRST + index,
                stream_sequence: None,
                timestamp: 0,
                marker: false,
                audio_level: None,
                dependency: &[],
                payload: &[1, 2],
                recovered: false,
            });
        }
        wire.run(now + ms(60_000));
        let passed: Vec<u64> = wire.events.iter().filter_map(|(_, event)| match event {
            ReceiveEvent::Packet(packet) => Some(packet.sequence),
            _ => None,
        }).collect();
        let unique: BTreeSet<u64> = passed.iter().copied().collect();
        prop_assert_eq!(unique.len(), passed.len());
        prop_assert_eq!(&unique, &sent);
        let packets = wire.receiver.stats().packets;
        let span = sent.last().zip(sent.first()).map_or(0, |(b, a)| b - a + 1);
        prop_assert_eq!(packets.received + packets.missing, span);
    }

    #[test]
    fn a_released_frame_has_its_references_and_the_order_is_kept(
        seed in any::<u64>(),
        layers in prop_oneof![
            Just(Layers::One), Just(Layers::Plain), Just(Layers::Droppable),
            Just(Layers::Two), Just(Layers::Three),
        ],
        loss in 0.0..0.1_f64,
        answered in any::<bool>(),
    ) {
        let mut rng = Rng::new(seed);
        let mut wire = Wire::new(video(Delivery::Frames));
        wire.answer_after = answered.then_some(ms(50));
        let mut encoder = Encoder::new(layers);
        for frame in 0..120_u64 {
            let packets = 1 + rng.below(6);
            let sent = at_ms(1000) + FRAME * frame;
            for packet in encoder.frame(frame % 40 == 0, packets) {
                let path = if rng.chance(0.5) { A } else { B };
                let packet = encoder.by(path, packet);
                let transit = ms(20 + 40 * u64::from(path == B) + rng.below(10));
                if rng.chance(0.05) {
                    wire.deliver(sent + transit + ms(rng.below(300)), packet);
                }
                match rng.chance(loss) {
                    true => wire.lose(packet),
                    false => wire.deliver(sent + transit, packet),
                }
            }
        }
        wire.run(at_ms(60_000));
        let numbers: Vec<u32> = wire.frames().iter().map(|(_, f)| number_of(f.timestamp)).collect();
        prop_assert!(numbers.windows(2).all(|w| w[0] < w[1]), "{:?}", numbers);
        let released: BTreeSet<u32> = numbers.iter().copied().collect();
        for number in &numbers {
            for reference in &encoder.references[*number as usize] {
                prop_assert!(released.contains(reference), "{} needs {}", number, reference);
            }
        }
        for (at, frame) in wire.frames() {
            prop_assert!(frame.first_arrival <= frame.complete_at && frame.complete_at <= at);
        }
        let stats = wire.receiver.stats();
        prop_assert_eq!(stats.frames.released, numbers.len() as u64);
        prop_assert!(stats.packets.late <= stats.packets.missing);
    }

    #[test]
    fn without_loss_every_frame_comes_whatever_the_order(
        seed in any::<u64>(),
        skew in 0..100_u64,
        layers in prop_oneof![
            Just(Layers::One), Just(Layers::Plain), Just(Layers::Droppable),
            Just(Layers::Two), Just(Layers::Three),
        ],
    ) {
        let mut rng = Rng::new(seed);
        let mut wire = Wire::new(video(Delivery::Frames));
        let mut encoder = Encoder::new(layers);
        let mut previous = [Instant::ZERO; 2];
        for frame in 0..120_u64 {
            let sent = at_ms(1000) + FRAME * frame;
            for packet in encoder.frame(frame == 0, 1 + rng.below(6)) {
                let slow = rng.chance(0.5);
                let packet = encoder.by(if slow { B } else { A }, packet);
                let transit = ms(20 + skew * u64::from(slow) + rng.below(20));
                // Each path keeps its order.
                let last = &mut previous[usize::from(slow)];
                *last = (*last).max(sent + transit);
                wire.deliver(*last, packet);
            }
        }
        wire.run(at_ms(60_000));
        let stats = wire.receiver.stats();
        // Frames that no other refers to are skipped until the delay is known.
        let droppable = !matches!(layers, Layers::One | Layers::Plain);
        prop_assert!(stats.frames.released == 120 || (droppable && stats.frames.released > 100));
        prop_assert_eq!(stats.repair, RepairCounters::default());
    }
}
