use super::*;

#[test]
fn over_use_must_last_10_ms_and_not_shrink() {
    let mut detector = Detector::new();
    assert_eq!(detector.update(13.0, 5.0), Signal::Normal);
    assert_eq!(detector.update(14.0, 5.0), Signal::OverUse);
    assert_eq!(detector.update(13.9, 5.0), Signal::Normal);
    assert_eq!(detector.update(14.0, 5.0), Signal::OverUse);
    assert_eq!(detector.update(1.0, 5.0), Signal::Normal);
}

#[test]
fn under_use_must_last_10_ms() {
    let mut detector = Detector::new();
    assert_eq!(detector.update(-13.0, 6.0), Signal::Normal);
    assert_eq!(detector.update(-13.0, 6.0), Signal::UnderUse);
    assert_eq!(detector.update(0.0, 6.0), Signal::Normal);
}

#[test]
fn the_threshold_follows_the_gradient_fast_up_and_slowly_down() {
    let mut detector = Detector::new();
    // 12.5 + 10 * 0.01 * (16.5 - 12.5) = 12.9
    detector.update(16.5, 10.0);
    assert!((detector.threshold_ms - 12.9).abs() < 1e-9);
    // 12.9 + 10 * 0.00018 * (2.9 - 12.9) = 12.882
    detector.update(2.9, 10.0);
    assert!((detector.threshold_ms - 12.882).abs() < 1e-9);
    // More than 15 ms above: the threshold stays.
    detector.update(28.0, 10.0);
    assert!((detector.threshold_ms - 12.882).abs() < 1e-9);
    for _ in 0..2000 {
        detector.update(0.0, 100.0);
    }
    assert_eq!(detector.threshold_ms, 6.0);
}
