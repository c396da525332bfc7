use super::*;

fn run(fractions: impl Iterator<Item = f64>) -> Trend {
    let mut trend = Trend::default();
    for (n, fraction) in fractions.enumerate() {
        let now = Instant::ZERO + INTERVAL * n as u64;
        trend.update(now, fraction);
    }
    trend
}

#[test]
fn the_first_samples_by_hand() {
    // Averages 0.1 and 0.19, mean 0.145: R(0) = 2 * 0.045^2, R(1) = -0.045^2:
    // a negative trend counts as none.
    let trend = run([1.0, 1.0].into_iter());
    assert!((trend.average - 0.19).abs() < 1e-12);
    assert_eq!(trend.get(), 0.0);
}

#[test]
fn a_growing_queue_has_a_trend_and_none_has_not() {
    assert_eq!(run([0.0; 40].into_iter()).get(), 0.0);
    let trend = run((0..40).map(|n| f64::from(n) / 10.0));
    assert!((0.5..=1.0).contains(&trend.get()), "{trend:?}");
    // The memory outlasts it by 0.99 an interval.
    let trend = run((0..40).map(|n| f64::from(n) / 10.0).chain([0.0; 100]));
    assert!(trend.get() < 0.01, "{trend:?}");
    assert!((0.2..=0.5).contains(&trend.memory()), "{trend:?}");
}
