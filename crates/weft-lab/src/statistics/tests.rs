use super::{Centre, Estimate, paired, quantile, student_t};
use proptest::prelude::*;

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-3
}

#[test]
fn mean_and_interval_of_five_values() {
    // Mean 3, s² = 10/4, s/sqrt(5) = 0.7071, t(4) = 2.776: 3 ± 1.963.
    let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0], Centre::Mean).unwrap();
    assert!(near(estimate.centre, 3.0));
    assert!(
        near(estimate.low(), 1.037) && near(estimate.high(), 4.963),
        "{estimate:?}"
    );
}

#[test]
fn one_value_has_no_interval_and_none_no_estimate() {
    let one = Estimate::of(&[4.0], Centre::Mean).unwrap();
    assert_eq!((one.centre, one.interval, one.n), (4.0, None, 1));
    assert_eq!(Estimate::of(&[], Centre::Mean), None);
    assert_eq!(Estimate::of(&[], Centre::Median), None);
}

#[test]
fn median_takes_the_order_statistics_of_the_sign_test() {
    // n = 10: P(X <= 1) = 11/1024 = 1.07 %, P(X <= 2) = 5.5 %: second and ninth.
    let values: Vec<f64> = (1..=10).map(f64::from).collect();
    let ten = Estimate::of(&values, Centre::Median).unwrap();
    assert_eq!((ten.centre, ten.interval), (5.5, Some((2.0, 9.0))));
    // n = 6: P(X <= 0) = 1/64 = 1.6 %: first and sixth.
    let six = Estimate::of(&values[..6], Centre::Median).unwrap();
    assert_eq!(six.interval, Some((1.0, 6.0)));
}

#[test]
fn the_median_of_as_many_values_as_there_may_be_seeds_has_an_interval() {
    // In integers: P(X <= 955) = 2.33 % and P(X <= 956) = 2.59 % of Binomial(2000, 1/2),
    // P(X <= 4901) = 2.44 % and P(X <= 4902) = 2.56 % of Binomial(10000, 1/2).
    for (n, low, high) in [(2_000, 956.0, 1_045.0), (10_000, 4_902.0, 5_099.0)] {
        let values: Vec<f64> = (1..=n).map(f64::from).collect();
        let estimate = Estimate::of(&values, Centre::Median).unwrap();
        assert_eq!(estimate.interval, Some((low, high)), "{n}");
    }
}

#[test]
fn student_t_between_the_rows() {
    // NIST: t(50) = 2.009, t(100) = 1.984, t(1000) = 1.962.
    for (degrees, t) in [
        (1, 12.706),
        (9, 2.262),
        (50, 2.009),
        (100, 1.984),
        (1000, 1.962),
    ] {
        assert!(
            near(student_t(degrees), t),
            "{degrees}: {}",
            student_t(degrees)
        );
    }
}

#[test]
fn a_constant_difference_shows_through_any_spread_between_seeds() {
    let there: Vec<_> = [10.0, 80.0, 35.0, 2.0].map(Some).to_vec();
    let mut here: Vec<_> = there.iter().map(|v| v.map(|v| v + 1.5)).collect();
    here[3] = None;
    let difference = paired(&here, &there, Centre::Mean).unwrap();
    assert_eq!(
        (difference.centre, difference.interval, difference.n),
        (1.5, Some((1.5, 1.5)), 3)
    );
}

#[test]
fn quantiles_interpolate() {
    let sorted = [10.0, 20.0, 30.0, 40.0];
    // 0.95 · 3 = 2.85: 30 + 0.85 · 10.
    assert!(near(quantile(&sorted, 0.95).unwrap(), 38.5));
    assert_eq!(quantile(&sorted, 0.0), Some(10.0));
    assert_eq!(quantile(&[], 0.5), None);
}

proptest! {
    #[test]
    fn the_interval_holds_the_centre_within_reach(values in proptest::collection::vec(-1e6_f64..1e6, 2..60)) {
        for centre in [Centre::Mean, Centre::Median] {
            let estimate = Estimate::of(&values, centre).unwrap();
            prop_assert!(estimate.low() <= estimate.centre && estimate.centre <= estimate.high());
        }
    }
}

#[test]
fn an_interval_of_what_is_never_negative_begins_at_zero() {
    // Mean 1.5, s 2.12, t 12.7: 19.1 to either side.
    let estimate = Estimate::of(&[0.0, 3.0], Centre::Mean)
        .unwrap()
        .non_negative();
    let (low, high) = estimate.interval.unwrap();
    assert_eq!(low, 0.0);
    assert!((high - 20.56).abs() < 0.01, "{high}");
}
