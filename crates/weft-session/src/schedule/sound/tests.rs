use proptest::prelude::*;
use weft_units::Rate;

use super::*;

fn view(id: u8, kbps: u64) -> PathView {
    PathView {
        id: PathId(id),
        rate: Rate::from_kbps(kbps),
        delay: Duration::ZERO,
        reach: Duration::ZERO,
        queued: Bytes::ZERO,
        srtt: Duration::from_millis(40),
        loss: 0.0,
        delivered: None,
        in_flight: Bytes::ZERO,
        endangered: false,
        repairs_late: false,
    }
}

/// Returns how many packets of 160 bytes, one every 20 ms (64 kbps), are copied in ten
/// seconds.
fn copies(second_kbps: u64) -> usize {
    let (first, second) = (view(0, 1000), view(1, second_kbps));
    let mut sound = Sound::default();
    let copied = |number: u64| {
        let now = Instant::ZERO + Duration::from_millis(20 * number);
        let assigned = sound.assign(now, Bytes(160), &[&first, &second]);
        assert_eq!(assigned.path, PathId(0));
        !assigned.copies.is_empty()
    };
    (0..500).map(copied).filter(|copied| *copied).count()
}

#[test]
fn every_packet_is_copied_where_a_quarter_of_the_rate_carries_it() {
    assert_eq!(copies(256), 500);
    assert_eq!(copies(20_000), 500);
}

#[test]
fn where_it_carries_less_the_copies_are_fewer() {
    // A quarter of 128 kbps carries half of 64 kbps, and the burst of 800 bytes carries
    // five more packets once.
    let half = copies(128);
    assert!((250..=256).contains(&half), "{half} copies");
    assert_eq!(copies(0), 0);
}

#[test]
fn nothing_is_copied_without_a_second_path() {
    let only = view(0, 1000);
    let assigned = Sound::default().assign(Instant::ZERO, Bytes(160), &[&only]);
    assert_eq!(assigned, Assignment::from(PathId(0)));
}

proptest! {
    #[test]
    fn copies_never_take_more_than_a_quarter_and_one_burst(
        kbps in 0_u64..5_000,
        packets in proptest::collection::vec((0_u64..50, 1_u64..1_500), 1..300),
    ) {
        let (first, second) = (view(0, 1000), view(1, kbps));
        let mut sound = Sound::default();
        let mut now = Instant::ZERO;
        let mut copied = 0;
        for (wait, size) in packets {
            now += Duration::from_millis(wait);
            let assigned = sound.assign(now, Bytes(size), &[&first, &second]);
            copied += size * assigned.copies.len() as u64;
            let span = now.saturating_since(Instant::ZERO) + BURST;
            // Each of up to 300 roundings frees at most one byte too many.
            let most = (second.rate.mul_f64(MOST) * span).0 + 300;
            prop_assert!(copied <= most, "{copied} bytes of {most}");
        }
    }
}
