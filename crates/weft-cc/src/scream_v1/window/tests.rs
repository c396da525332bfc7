use super::*;

fn ack(at_ms: u64) -> Acknowledged {
    Acknowledged {
        now: Instant::ZERO + Duration::from_millis(at_ms),
        bytes: 2000.0,
        in_flight: 18_000.0,
        queue_ms: 25.0,
        target_ms: 100.0,
        trend: 0.0,
    }
}

/// Creates a window of 20,000 bytes with at most this much in flight.
fn window(flight: f64) -> Window {
    let mut window = Window::new(20_000.0);
    window.on_flight(Instant::ZERO, flight);
    window
}

#[test]
fn fast_increase_adds_what_is_acknowledged_until_the_trend_rises() {
    let mut w = window(30_000.0);
    w.on_acknowledged(&ack(0));
    assert_eq!(w.bytes(), 22_000.0);
    // 10,000 * 1.5 + 2000 are less than the window, so the window is not fully used.
    w.on_acknowledged(&Acknowledged {
        in_flight: 10_000.0,
        ..ack(0)
    });
    assert_eq!(w.bytes(), 22_000.0);
    w.on_acknowledged(&Acknowledged {
        trend: 0.2,
        ..ack(0)
    });
    assert!(!w.is_fast());
}

#[test]
fn then_it_follows_the_distance_from_the_target() {
    let steady = Acknowledged {
        trend: 0.3,
        ..ack(0)
    };
    let mut w = window(30_000.0);
    w.on_acknowledged(&steady);
    // 0.75 * 2000 * 1000 / 20000
    assert_eq!(w.bytes(), 20_075.0);
    let mut w = window(30_000.0);
    w.on_acknowledged(&Acknowledged {
        queue_ms: 200.0,
        ..steady
    });
    assert_eq!(w.bytes(), 19_900.0);
    // At most a tenth above the maximum in flight.
    let mut w = window(15_000.0);
    w.on_acknowledged(&steady);
    assert_eq!(w.bytes(), 16_500.0);
}

#[test]
fn events_shrink_it_and_five_calm_seconds_bring_fast_increase_back() {
    let mut w = window(30_000.0);
    w.shrink(Event::Loss);
    assert_eq!(w.bytes(), 16_000.0);
    w.shrink(Event::Mark);
    assert_eq!(w.bytes(), 14_400.0);
    assert!(!w.is_fast());
    w.on_acknowledged(&ack(0));
    w.on_acknowledged(&ack(4999));
    assert!(!w.is_fast());
    w.on_acknowledged(&ack(5000));
    assert!(w.is_fast());
}
