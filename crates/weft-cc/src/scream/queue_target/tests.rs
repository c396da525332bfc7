use super::*;

const RTT: Duration = Duration::from_millis(50);

/// Feeds feedback every 50 ms with the queue that `queue_ms` returns.
fn run(samples: u64, queue_ms: impl Fn(u64) -> f64, lost: bool) -> QueueTarget {
    let mut target = QueueTarget::new(60.0);
    for n in 0..samples {
        let now = Instant::ZERO + Duration::from_millis(50 * n);
        target.update(now, queue_ms(n), lost && n % 20 == 0, RTT);
    }
    target
}

#[test]
fn the_average_rises_by_a_quarter_and_falls_at_once() {
    let target = run(2, |_| 80.0, false);
    assert_eq!(target.average_ms(), 20.0 + 0.75 * 20.0);
    let target = run(3, |n| [80.0, 80.0, 10.0][n as usize], false);
    assert_eq!(target.average_ms(), 10.0);
}

#[test]
fn a_short_queue_leaves_the_target_low() {
    assert_eq!(run(400, |_| 20.0, false).target_ms(), 60.0);
}

#[test]
fn a_steady_long_queue_is_another_flows_and_lifts_the_target() {
    // Average 200 / 60, no variance.
    let target = run(400, |_| 200.0, false).target_ms();
    assert!((target - 200.0).abs() < 1e-6, "{target}");
    // With losses one and a half times as much, at most 400 ms.
    let target = run(400, |_| 200.0, true).target_ms();
    assert!((target - 300.0).abs() < 1e-6, "{target}");
    assert_eq!(run(400, |_| 1000.0, true).target_ms(), 400.0);
}

#[test]
fn a_queue_that_comes_and_goes_lets_the_target_sink() {
    // 0 and 240 ms alternate: mean 2, variance 4 relative to the low target, too much to
    // follow; before that, 300 ms.
    let wave = |n| {
        if n < 400 {
            300.0
        } else {
            240.0 * (n % 2) as f64
        }
    };
    assert!(run(400, wave, false).target_ms() > 299.0);
    assert_eq!(run(600, wave, false).target_ms(), 60.0);
}
