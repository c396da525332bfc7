use super::*;

fn row(metric: &str, mean: f64) -> Row {
    Row {
        system: "webrtc".to_owned(),
        metric: metric.to_owned(),
        unit: "1",
        mean,
        ci95: [None, None],
        n: 1,
    }
}

fn agrees(least: f64, sim: f64, emu: f64) -> bool {
    compared(
        &row("queue_ms_mean", emu),
        &row("queue_ms_mean", sim),
        least,
    )
    .agrees
}

#[test]
fn a_tenth_is_the_threshold() {
    assert!(agrees(0.0, 100.0, 110.0));
    assert!(!agrees(0.0, 100.0, 110.1));
    assert!(!agrees(0.0, 100.0, 89.9));
}

#[test]
fn a_tenth_of_almost_nothing_is_nothing() {
    assert!(agrees(2.0, 0.5, 2.4));
    assert!(!agrees(2.0, 0.5, 2.6));
    assert!(agrees(2.0, 0.0, 1.0));
    assert!(!agrees(2.0, 0.0, 3.0));
}
