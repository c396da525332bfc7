use super::{Distribution, bucket_of, middle_of};
use proptest::prelude::*;
use weft_units::Duration;

#[test]
fn two_directions_together_are_not_their_mean() {
    let of = |each: &[(u64, u64)]| {
        let mut all = Distribution::default();
        for &(ms, count) in each {
            (0..count).for_each(|_| all.add(Duration::from_millis(ms)));
        }
        all
    };
    // 940 packets of 1 ms and 60 of 100 ms: 95 % took up to 100 ms, though the first
    // direction alone has a 95th percentile of 1 ms.
    let mut both = of(&[(1, 940)]);
    both.merge(&of(&[(100, 60)]));
    assert_eq!(both, of(&[(1, 940), (100, 60)]));
    let p95 = both.percentile(95).as_millis_f64();
    assert!((99.0..=101.0).contains(&p95), "{p95}");
    assert_eq!(both.mean(), Duration::from_micros(6_940));
}

proptest! {
    #[test]
    fn a_bucket_stands_for_its_values_within_the_resolution(value in any::<u64>()) {
        let middle = middle_of(bucket_of(value));
        let error = middle.abs_diff(value) as f64;
        prop_assert!(error <= value as f64 * Distribution::RESOLUTION, "{value} as {middle}");
    }

    #[test]
    fn buckets_are_in_the_order_of_their_values(a in any::<u64>(), b in any::<u64>()) {
        prop_assert!((a <= b) <= (bucket_of(a) <= bucket_of(b)));
    }

    #[test]
    fn quantiles_agree_with_sorting(mut values in prop::collection::vec(0_u64..1_000_000, 1..300)) {
        let found: Distribution = values.iter().map(|v| Duration::from_nanos(*v)).collect();
        values.sort_unstable();
        for percent in [5, 50, 95, 99] {
            let exact = values[(values.len() * percent).div_ceil(100).max(1) - 1];
            let error = found.percentile(percent as u64).as_nanos().abs_diff(exact) as f64;
            prop_assert!(error <= exact as f64 * Distribution::RESOLUTION + 1.0);
        }
    }
}
