use super::{Delays, bucket_of, middle_of};
use crate::record::Distribution;
use proptest::prelude::*;
use weft_units::Duration;

#[test]
fn a_period_is_summed_up_by_nearest_rank() {
    let mut delays = Delays::default();
    for ms in 1..=20 {
        delays.add(Duration::from_millis(ms));
    }
    let sample = delays.take_period();
    // ceil(0.95 * 20) = 19th smallest; mean (1 + 20) / 2.
    assert_eq!(sample.p95, Duration::from_millis(19));
    assert_eq!(sample.mean, Duration::from_micros(10_500));
    assert_eq!(sample.max, Duration::from_millis(20));
    assert_eq!(sample.count, 20);
    assert_eq!(delays.take_period().count, 0);
    assert_eq!(delays.distribution().mean, Duration::from_micros(10_500));
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
        let mut delays = Delays::default();
        values.iter().for_each(|v| delays.add(Duration::from_nanos(*v)));
        delays.take_period();
        let found = delays.distribution();
        values.sort_unstable();
        for (percent, got) in [(5, found.p5), (50, found.p50), (95, found.p95), (99, found.p99)] {
            let exact = values[(values.len() * percent).div_ceil(100).max(1) - 1];
            let error = got.as_nanos().abs_diff(exact) as f64;
            prop_assert!(error <= exact as f64 * Distribution::RESOLUTION + 1.0);
        }
    }
}
