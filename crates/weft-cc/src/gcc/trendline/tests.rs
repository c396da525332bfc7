use super::*;
use weft_units::Duration;

/// Feeds groups every 20 ms whose delay grows by `growth` ms each.
fn modified(groups: u64, growth: f64) -> f64 {
    let mut trendline = Trendline::new();
    for i in 0..groups {
        trendline.update(&Delta {
            send_ms: 20.0,
            arrival_ms: 20.0 + growth,
            arrival: Instant::ZERO + Duration::from_millis(20 + growth as u64) * i,
        });
    }
    trendline.modified()
}

#[test]
fn the_slope_is_growth_over_time_with_the_gains() {
    // 1 ms per 21 ms is 0.0476; times 60 groups, times gain 4: 11.43.
    assert!((modified(200, 1.0) - 60.0 * 4.0 / 21.0).abs() < 0.01);
    assert_eq!(modified(200, 0.0), 0.0);
    // A draining queue: -1 ms per 20 ms of this test's fixed arrivals.
    assert!((modified(200, -1.0) - -60.0 * 4.0 / 20.0).abs() < 2.0);
}

#[test]
fn less_than_a_window_says_nothing() {
    assert_eq!(modified(19, 1.0), 0.0);
    assert!(modified(20, 1.0) > 0.0);
}
