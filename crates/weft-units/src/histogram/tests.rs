use super::*;
use proptest::prelude::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::default();
    values
        .iter()
        .for_each(|v| histogram.add(Duration::from_nanos(*v)));
    histogram
}

#[test]
fn quantiles_go_by_nearest_rank() {
    let values: Vec<u64> = (1..=50).collect();
    let histogram = of(&values);
    let quantile = |q| histogram.quantile(q).map(Duration::as_nanos);
    // Rank ceil(0.5 x 50) = 25 and ceil(0.99 x 50) = 50.
    assert_eq!(quantile(0.5), Some(25));
    assert_eq!(quantile(0.99), Some(50));
    assert_eq!(histogram.mean(), Some(Duration::from_nanos(25)));
    assert_eq!(of(&[]).quantile(0.5), None);
}

#[test]
fn a_merged_histogram_has_all_durations() {
    let mut merged = of(&[1, 70_000, 3]);
    merged.merge(&of(&[2]));
    merged.merge(&of(&[9_000_000]));
    assert_eq!(merged, of(&[1, 2, 3, 70_000, 9_000_000]));
}

proptest! {
    #[test]
    fn a_value_is_known_to_one_part_in_64(value: u64) {
        let end = upper_end(bucket_of(value));
        prop_assert!(end >= value);
        prop_assert!(end - value <= value / 64);
    }

    #[test]
    fn no_quantile_is_above_the_maximum(values in prop::collection::vec(0_u64..1 << 40, 1..50), q in 0.0..=1.0) {
        let histogram = of(&values);
        prop_assert!(histogram.quantile(q).unwrap() <= histogram.max());
        prop_assert_eq!(histogram.max().as_nanos(), *values.iter().max().unwrap());
    }
}
