use crate::{Bytes, Deadline, Duration, Instant, Rate, Rng};

#[test]
fn a_packet_at_a_rate_takes_its_serialisation_time() {
    // 1500 bytes are 12,000 bits: 12 ms at 1 Mbps.
    let time = Rate::from_mbps(1).time_for(Bytes(1500));
    assert_eq!(time, Some(Duration::from_millis(12)));
    assert_eq!(Rate::ZERO.time_for(Bytes(1)), None);
    // 1 byte at 3 bps is 2.666..s, rounded up.
    assert_eq!(
        Rate::from_bps(3).time_for(Bytes(1)),
        Some(Duration::from_nanos(2_666_666_667))
    );
}

#[test]
fn rate_time_and_size_agree() {
    assert_eq!(Bytes(125_000) / Duration::from_secs(1), Rate::from_mbps(1));
    assert_eq!(Rate::from_mbps(8) * Duration::from_millis(1), Bytes(1000));
}

#[test]
fn rate_time_and_size_agree_beyond_64_bits() {
    // 2^62 bytes are 2^65 bits: 2^33 s at 2^32 bps.
    let (size, rate) = (Bytes(1 << 62), Rate::from_bps(1 << 32));
    let time = Duration::from_secs(1 << 33);
    assert_eq!(rate.time_for(size), Some(time));
    assert_eq!(rate * time, size);
    assert_eq!(size / time, rate);
    // 2^35 s are more nanoseconds than 64 bits hold.
    let slow = Rate::from_bps(1 << 30).time_for(size);
    assert_eq!(slow, Some(Duration::from_nanos(u64::MAX)));
}

#[test]
fn instants_compare_across_the_epoch_without_panic() {
    let (a, b) = (Instant::from_nanos(5), Instant::from_nanos(9));
    assert_eq!(a.saturating_since(b), Duration::ZERO);
    assert_eq!(a.signed_nanos_since(b), -4);
    assert_eq!(b - a, Duration::from_nanos(4));
}

#[test]
fn the_earlier_deadline_wins_and_the_first_one_breaks_ties() {
    let at = |n, reason| {
        Some(Deadline {
            at: Instant::from_nanos(n),
            reason,
        })
    };
    assert_eq!(Deadline::earlier(at(3, "a"), at(2, "b")), at(2, "b"));
    assert_eq!(Deadline::earlier(at(2, "a"), at(2, "b")), at(2, "a"));
    assert_eq!(Deadline::earlier(None, at(2, "b")), at(2, "b"));
}

#[test]
fn a_stream_depends_on_seed_and_name_only() {
    let mut root = Rng::new(7);
    let mut before = root.stream("loss");
    root.next_u64();
    let mut after = root.stream("loss");
    let mut other = root.stream("jitter");
    assert_eq!(before.next_u64(), after.next_u64());
    assert_ne!(before.next_u64(), other.next_u64());
}

#[test]
fn xoshiro_matches_the_reference_implementation() {
    // First outputs of xoshiro256++ from state [1, 2, 3, 4], as published
    // with the reference C code and used by rand_xoshiro's tests.
    let mut rng = Rng::new(0);
    rng.set_state([1, 2, 3, 4]);
    let expected = [
        41_943_041,
        58_720_359,
        3_588_806_011_781_223,
        3_591_011_842_654_386,
    ];
    assert_eq!(std::array::from_fn(|_| rng.next_u64()), expected);
}

#[test]
fn normal_has_mean_zero_and_variance_one() {
    let mut rng = Rng::new(3);
    let n = 100_000;
    let draws: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let mean = draws.iter().sum::<f64>() / f64::from(n);
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
    assert!(mean.abs() < 0.015, "mean {mean}");
    assert!((variance - 1.0).abs() < 0.02, "variance {variance}");
}

#[test]
fn codecs_are_read_by_the_names_that_they_show() {
    for codec in crate::Codec::CODED {
        assert_eq!(crate::Codec::named(&codec.to_string()), Some(codec));
    }
    assert_eq!(crate::Codec::named("av1"), None);
}

#[test]
fn codecs_come_by_kind_with_the_preferred_one_first() {
    use crate::{Codec, MediaKind};
    let of = |kind| Codec::of_kind(kind).collect::<Vec<_>>();
    assert_eq!(of(MediaKind::Video), [Codec::Vp8, Codec::H264]);
    assert_eq!(of(MediaKind::Audio), [Codec::Opus]);
}

#[test]
fn the_others_share_what_bounds_leave_of_a_rate() {
    let level = |total, bounds: &[Option<u64>]| {
        let bounds = bounds.iter().map(|bound| bound.map(Rate::from_kbps));
        Rate::from_kbps(total).fair_level(bounds).as_bps() / 1000
    };
    assert_eq!(level(900, &[None, None, None]), 300);
    // Two get 900 less 100; one gets 800 less 350.
    assert_eq!(level(900, &[Some(100), None, None]), 400);
    assert_eq!(level(900, &[Some(350), Some(100), None]), 450);
    // A bound above the share has no effect.
    assert_eq!(level(900, &[Some(500), None, None]), 300);
    assert_eq!(level(900, &[Some(100), Some(200)]), 800);
    assert_eq!((level(900, &[]), level(900, &[Some(0)])), (900, 900));
}
