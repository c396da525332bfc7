use super::super::sample::ack;
use super::super::{AckSample, CongestionControl};
use super::Cubic;
use weft_units::{Duration, Instant};

#[test]
fn the_plateau_is_reached_again_after_k_seconds() {
    let mut cubic = Cubic::new();
    cubic.window = 1000.0;
    cubic.on_congestion(Instant::ZERO, 1000);
    assert_eq!(cubic.window(), 700);
    // K = cbrt(1000 * 0.3 / 0.4) = 9.086 s (equation 2). One window is
    // delivered per round trip of 50 ms.
    let mut at = Duration::ZERO;
    let mut at_nine = 0;
    while at < Duration::from_millis(9_086) {
        for _ in 0..100 {
            let delivered = cubic.window() / 100;
            cubic.on_ack(&ack(at, delivered));
        }
        at += Duration::from_millis(50);
        if at <= Duration::from_secs(5) {
            at_nine = cubic.window();
        }
    }
    // W(5) = 0.4 * (5 - 9.086)^3 + 1000 = 972.7.
    assert!((968..=976).contains(&at_nine), "{at_nine} after 5 s");
    assert!((995..=1003).contains(&cubic.window()), "{}", cubic.window());
}

#[test]
fn small_windows_grow_as_reno_does() {
    let mut cubic = Cubic::new();
    cubic.window = 20.0;
    cubic.on_congestion(Instant::ZERO, 20);
    // Ten round trips of 10 ms, starting at 14: alpha = 0.529 segments each. The cubic
    // curve is far below: K = cbrt(20 * 0.3 / 0.4) = 2.47 s, and W(0.1) = 0.4 * (0.1 -
    // 2.47)^3 + 20 = 14.7.
    for round in 0..10 {
        for _ in 0..cubic.window() {
            let at = Duration::from_millis(10 * round);
            cubic.on_ack(&AckSample {
                min_rtt: Some(Duration::from_millis(10)),
                ..ack(at, 1)
            });
        }
    }
    assert!((18.5..=19.5).contains(&cubic.window), "{}", cubic.window);
}

#[test]
fn a_second_loss_below_the_plateau_lowers_it_further() {
    let mut cubic = Cubic::new();
    cubic.window = 100.0;
    cubic.on_congestion(Instant::ZERO, 100);
    cubic.window = 80.0;
    cubic.on_congestion(Instant::ZERO, 80);
    // Section 4.7: 80 * (1 + 0.7) / 2.
    assert!((cubic.plateau - 68.0).abs() < 1e-9);
    assert_eq!(cubic.window(), 56);
}
