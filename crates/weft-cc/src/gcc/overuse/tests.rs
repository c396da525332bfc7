use super::*;
use weft_units::Duration;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

#[test]
fn overuse_takes_two_groups_and_10_ms() {
    let mut detector = OveruseDetector::new();
    let mut seen = Vec::new();
    // 6 ms per group: 3, then 9, then 15 ms of overuse.
    for i in 0..3 {
        detector.update(20.0, 30, 6.0, at(6 * i));
        seen.push(detector.usage());
    }
    assert_eq!(seen, [Usage::Normal, Usage::Normal, Usage::Over]);
    detector.update(0.0, 30, 6.0, at(24));
    assert_eq!(detector.usage(), Usage::Normal);
    detector.update(-20.0, 30, 6.0, at(30));
    assert_eq!(detector.usage(), Usage::Under);
}

#[test]
fn a_falling_trend_is_not_overuse() {
    let mut detector = OveruseDetector::new();
    for i in 0..5 {
        detector.update(27.0 - i as f64, 30, 20.0, at(20 * i));
        assert_eq!(detector.usage(), Usage::Normal, "group {i}");
    }
}

#[test]
fn the_threshold_follows_the_trend_slowly_up_and_fast_down() {
    let mut detector = OveruseDetector::new();
    detector.update(20.0, 30, 20.0, at(0));
    detector.update(20.0, 30, 20.0, at(20));
    // 12.5 + 0.0087 * (20 - 12.5) * 20
    assert!((detector.threshold - 13.805).abs() < 1e-9);
    detector.update(10.0, 30, 20.0, at(40));
    // 13.805 + 0.039 * (10 - 13.805) * 20
    assert!((detector.threshold - 10.8371).abs() < 1e-9);
    // A spike beyond threshold + 15 does not move it.
    detector.update(26.0, 30, 20.0, at(60));
    assert!((detector.threshold - 10.8371).abs() < 1e-9);
    for i in 4..100 {
        detector.update(0.0, 30, 20.0, at(20 * i));
    }
    assert_eq!(detector.threshold, 6.0);
}
