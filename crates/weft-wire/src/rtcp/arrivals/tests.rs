use super::*;
use crate::rtcp::{Packet, parse_compound};
use proptest::prelude::*;
use weft_units::Duration;

const TICK: u64 = 250_000;

fn plenty() -> Allowance {
    Allowance {
        missing: usize::MAX,
        blocks: usize::MAX,
    }
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

fn written(feedback: PathFeedback) -> Vec<u8> {
    let mut out = Vec::new();
    Packet::PathFeedback(feedback).write(&mut out);
    out
}

fn read(octets: &[u8]) -> PathFeedback {
    match parse_compound(octets, &mut { MAX_ENTRIES })
        .unwrap()
        .remove(0)
    {
        Packet::PathFeedback(feedback) => feedback,
        other => panic!("not path feedback: {other:?}"),
    }
}

fn round_trip(arrivals: Vec<Option<Instant>>) -> Vec<Option<Instant>> {
    let feedback = PathFeedback {
        sender: Ssrc(1),
        path: PathId(2),
        base_sequence: 3,
        arrivals,
        marks: vec![],
    };
    read(&written(feedback)).arrivals
}

/// Sequence numbers with their arrivals, from gaps and delays.
fn received(steps: &[(u64, i64)]) -> Vec<(u64, Instant)> {
    let (mut sequence, mut nanos) = (70_000_u64, 100_000_000_000_i64);
    let step = |&(gap, delta): &(u64, i64)| {
        sequence += gap;
        nanos = (nanos + delta).max(0);
        (sequence, Instant::from_nanos(nanos.cast_unsigned()))
    };
    steps.iter().map(step).collect()
}

#[test]
fn arrivals_are_rounded_down_to_250_us_without_drift() {
    // 100.1 ms apart: the remainders add up to whole steps and are not lost.
    let exact: Vec<u64> = (0..50).map(|i| 1_000_000_000 + i * 100_100_000).collect();
    let arrivals = exact.iter().map(|&n| Some(Instant::from_nanos(n)));
    for (read, exact) in round_trip(arrivals.collect()).iter().zip(exact) {
        let read = read.unwrap().as_nanos();
        assert_eq!(read, exact / TICK * TICK);
    }
}

#[test]
fn a_step_beyond_the_range_is_written_as_the_nearest_possible() {
    let read = round_trip(vec![Some(ms(64)), Some(ms(20_064)), Some(ms(20_064))]);
    // 32,767 steps each are 8,191.75 ms.
    assert_eq!(
        read[1],
        Some(Instant::from_nanos(64_000_000 + 32_767 * TICK))
    );
    assert_eq!(
        read[2],
        Some(Instant::from_nanos(64_000_000 + 65_534 * TICK))
    );
}

#[test]
fn a_report_of_losses_only_is_possible() {
    assert_eq!(round_trip(vec![None; 20]), vec![None; 20]);
}

#[test]
fn reference_times_wrap_after_twelve_days() {
    let wrap = 64_000_000_u64 << 24; // 64 ms, 24 bits
    assert_eq!(Duration::from_nanos(wrap).as_millis(), 1_073_741_824);
    let late = Instant::from_nanos(wrap + 64_000_000);
    assert_eq!(round_trip(vec![Some(late)]), [Some(ms(64))]);

    assert_eq!(
        unwrap_arrival(late, ms(128)),
        late + Duration::from_millis(64)
    );
    let before = Instant::from_nanos(wrap - 1_000_000);
    assert_eq!(unwrap_arrival(before, ms(64)), late);
    assert_eq!(unwrap_arrival(late, before), before);
    assert_eq!(unwrap_arrival(ms(64), ms(128)), ms(128));
    let end = Instant::from_nanos(u64::MAX);
    assert!(unwrap_arrival(end, end) <= end); // no overflow
}

#[test]
fn losses_between_reports_are_reported() {
    let blocks = split_arrivals(100, &[(103, ms(640)), (105, ms(650))], 1200, &mut plenty());
    let [block] = &blocks[..] else {
        panic!("{} blocks", blocks.len());
    };
    assert_eq!(block.base_sequence, 100);
    let expected = [None, None, None, Some(ms(640)), None, Some(ms(650))];
    assert_eq!(block.arrivals, expected);
    // 12 + 8 octets of headers, a chunk, a small delta and a small one.
    assert_eq!(block.packet_len(), 24);
    assert_eq!(
        written(block.clone().into_path_feedback(Ssrc(1), PathId(2))).len(),
        24
    );
}

#[test]
fn a_wide_gap_and_a_long_silence_start_a_new_block() {
    let far = [(100, ms(640)), (100 + 8_192, ms(650)), (8_293, ms(9_000))];
    let blocks = split_arrivals(100, &far, 1200, &mut plenty());
    let bases: Vec<u64> = blocks.iter().map(|b| b.base_sequence).collect();
    assert_eq!(bases, [100, 8_292, 8_293]);
    // One packet less fits.
    let near = [(100, ms(640)), (100 + 8_191, ms(650)), (8_292, ms(8_841))];
    assert_eq!(split_arrivals(100, &near, 1200, &mut plenty()).len(), 1);
}

#[test]
fn missing_packets_are_reported_up_to_the_bound() {
    let received = [103, 113, 114, 124].map(|number| (number, ms(640)));
    let mut left = Allowance {
        missing: 15,
        blocks: 8,
    };
    let blocks = split_arrivals(100, &received, 1200, &mut left);
    let entries: Vec<_> = blocks
        .iter()
        .map(|b| (b.base_sequence, b.arrivals.len()))
        .collect();
    // Three and nine are reported, the last nine are not.
    assert_eq!(entries, [(100, 15), (124, 1)]);
    let expected = Allowance {
        missing: 3,
        blocks: 6,
    };
    assert_eq!(left, expected);
}

#[test]
fn there_are_no_more_blocks_than_allowed() {
    let received: Vec<_> = (0..9).map(|i| (i * 10_000, ms(640))).collect();
    let mut left = Allowance {
        blocks: 5,
        ..plenty()
    };
    assert_eq!(split_arrivals(0, &received, 1200, &mut left).len(), 5);
    assert_eq!(left.blocks, 0);
    assert!(split_arrivals(0, &received, 1200, &mut left).is_empty());
}

#[test]
fn a_first_number_far_behind_or_ahead_is_accepted() {
    let received = [(100_000, ms(640))];
    for first in [0, 100_000, 100_001, u64::MAX] {
        let blocks = split_arrivals(first, &received, 1200, &mut plenty());
        assert_eq!(blocks.len(), 1);
        assert_eq!(blocks[0].base_sequence, 100_000);
    }
    assert!(split_arrivals(5, &[], 1200, &mut plenty()).is_empty());
}

proptest! {
    #[test]
    fn written_values_are_read_back_in_whole_steps(
        base_sequence: u16,
        feedback_count: u8,
        steps in proptest::collection::vec((0..6_u8, -32_000..32_000_i64), 1..300),
    ) {
        // One of three is lost; the others come in steps of either size.
        let mut tick = 1_000_000_i64;
        let arrivals = steps.iter().map(|&(kind, step)| match kind {
            0 | 1 => None,
            2 => {
                tick = (tick + step).max(0);
                Some(Instant::from_nanos(tick.cast_unsigned() * TICK))
            }
            _ => {
                tick += step.rem_euclid(256);
                Some(Instant::from_nanos(tick.cast_unsigned() * TICK))
            }
        });
        let packet = Packet::TransportFeedback(TransportFeedback {
            sender: Ssrc(1),
            media: Ssrc(2),
            feedback_count,
            base_sequence,
            arrivals: arrivals.collect(),
        });
        let mut octets = Vec::new();
        packet.write(&mut octets);
        prop_assert_eq!(parse_compound(&octets, &mut { MAX_ENTRIES }), Ok(vec![packet]));
    }

    #[test]
    fn blocks_hold_each_arrival_once_and_keep_to_the_size(
        steps in proptest::collection::vec(
            (
                prop_oneof![8 => 1..3_u64, 1 => 3..12_000_u64],
                prop_oneof![8 => 0..2_000_000_i64, 1 => -9_000_000_000..9_000_000_000_i64],
            ),
            0..400,
        ),
        max_len in 40..1200_usize,
    ) {
        let received = received(&steps);
        let first = received.first().map_or(0, |(sequence, _)| sequence - 1);
        let blocks = split_arrivals(first, &received, max_len, &mut plenty());
        let mut found = Vec::new();
        let mut next = first;
        for block in blocks {
            prop_assert!(block.base_sequence >= next, "blocks overlap");
            prop_assert!(block.packet_len() <= max_len);
            prop_assert!(block.arrivals.len() <= MAX_ENTRIES);
            next = block.base_sequence + block.arrivals.len() as u64;
            let base = block.base_sequence;
            let octets = written(block.clone().into_path_feedback(Ssrc(1), PathId(0)));
            prop_assert_eq!(octets.len(), block.packet_len());
            let arrivals = read(&octets).arrivals;
            prop_assert_eq!(arrivals.len(), block.arrivals.len());
            let with_number = (base..).zip(arrivals);
            found.extend(with_number.filter_map(|(s, arrival)| Some((s, arrival?))));
        }
        let in_steps = |&(s, arrival): &(u64, Instant)| {
            (s, Instant::from_nanos(arrival.as_nanos() / TICK * TICK))
        };
        let expected: Vec<_> = received.iter().map(in_steps).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn marks_are_read_back_and_fit_beside_the_arrivals(
        steps in proptest::collection::vec((1..3_u64, 0..2_000_000_i64), 1..400),
        bits in proptest::collection::vec(0..4_u8, 400),
        max_len in 80..1200_usize,
    ) {
        let room = PathFeedback::room_beside_marks(max_len);
        let received = received(&steps);
        let mut marks = bits.into_iter().map(Ecn::from_bits);
        for block in split_arrivals(received[0].0, &received, room, &mut plenty()) {
            let count = block.arrivals.iter().flatten().count();
            let mut feedback = block.into_path_feedback(Ssrc(1), PathId(0));
            feedback.marks = marks.by_ref().take(count).collect();
            let octets = written(feedback.clone());
            prop_assert!(octets.len() <= max_len, "{} octets", octets.len());
            let mut expected = feedback.marks;
            if expected.iter().all(|mark| *mark == Ecn::NotEct) {
                expected.clear();
            }
            prop_assert_eq!(read(&octets).marks, expected);
        }
    }

    #[test]
    fn unwrapping_undoes_the_wrap(
        previous in 0..u64::MAX / 2,
        distance in -500_000_000_000_000..500_000_000_000_000_i64,
    ) {
        let Some(exact) = previous.checked_add_signed(distance) else {
            return Ok(());
        };
        let wrapped = Instant::from_nanos(exact % body::REFERENCE_WRAP.as_nanos());
        let unwrapped = unwrap_arrival(Instant::from_nanos(previous), wrapped);
        prop_assert_eq!(unwrapped, Instant::from_nanos(exact));
    }
}
