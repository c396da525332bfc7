use super::*;

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// Feedback without events: a round trip of 50 ms and an empty queue.
fn quiet(at_ms: u64) -> Update {
    Update {
        now: ms(at_ms),
        rtt: Duration::from_millis(50),
        unmarked_bytes: 0.0,
        lost: false,
        marked: false,
        marking: Marking::Classic,
        mark_share: 0.0,
        queue_ms: 0.0,
        average_ms: 0.0,
        target_ms: 60.0,
        flight_before: 20_000.0,
        flight: 20_000.0,
        at_limit: false,
        target_bps: 3.2e6,
    }
}

fn window(bytes: f64) -> Window {
    let mut window = Window::new();
    window.set_bytes(bytes);
    window
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
}

#[test]
fn loss_and_classic_marks_scale_it_once_per_virtual_round_trip() {
    let mut w = window(20_000.0);
    let lost = Update {
        lost: true,
        ..quiet(0)
    };
    w.update(&lost);
    near(w.bytes(), 14_000.0);
    w.update(&Update {
        now: ms(24),
        ..lost
    });
    near(w.bytes(), 14_000.0);
    // Losses meanwhile count once the time has passed.
    w.update(&quiet(25));
    near(w.bytes(), 9800.0);
    let mut w = window(20_000.0);
    w.update(&Update {
        marked: true,
        ..quiet(0)
    });
    near(w.bytes(), 16_000.0);
}

#[test]
fn l4s_marks_scale_it_by_half_of_their_share() {
    let mut w = window(20_000.0);
    let marked = Update {
        marked: true,
        marking: Marking::L4s,
        mark_share: 0.4,
        queue_ms: 20.0,
        ..quiet(0)
    };
    // 0.4 / 2 * (1 - 1000 / 20000) = 0.19, over two virtual round trips.
    w.update(&marked);
    near(w.bytes(), 20_000.0 * (1.0 - 0.095));
    // A shorter round trip gets one reaction.
    let mut w = window(20_000.0);
    w.update(&Update {
        rtt: Duration::from_millis(10),
        ..marked
    });
    near(w.bytes(), 20_000.0 * 0.81);
    // A quarter of it near the inflection point, with a short queue.
    let mut w = window(20_000.0);
    w.inflection = 20_000.0;
    w.update(&Update {
        queue_ms: 1.0,
        ..marked
    });
    near(w.bytes(), 20_000.0 * (1.0 - 0.095 * 0.25));
    // After a long calm, it starts from the bytes in flight
    let mut w = window(60_000.0);
    w.update(&marked);
    // (the ratio is that of the inflated window).
    near(w.bytes(), 20_000.0 * (1.0 - 0.1 * (1.0 - 1.0 / 60.0)));
}

#[test]
fn a_queue_above_half_of_the_target_counts_as_marks() {
    let mut w = window(20_000.0);
    // limit = 2 / 3.2e6 * 8000 / 0.05 = 0.1; (45 - 30) / 30 = 0.5: share = 2 * 0.1 * 0.5
    // = 0.1, back-off 0.025 * 0.95 every 25 ms.
    let queued = Update {
        queue_ms: 45.0,
        average_ms: 45.0,
        ..quiet(0)
    };
    w.update(&queued);
    near(w.bytes(), 20_000.0 * (1.0 - 0.025 * 0.95));
    // Active marking switches it off.
    let mut w = window(20_000.0);
    w.update(&Update {
        mark_share: 0.2,
        ..queued
    });
    near(w.bytes(), 20_000.0);
}

#[test]
fn a_window_of_acknowledgements_adds_a_segment_and_two_percent() {
    let mut w = window(20_000.0);
    w.update(&Update {
        unmarked_bytes: 20_000.0,
        ..quiet(0)
    });
    // 20000 * 0.05 = 1000; * 0.95 for the small window; * (1 + 0.02 * 20).
    near(w.bytes(), 20_000.0 + 1000.0 * 0.95 * 1.4);
}

#[test]
fn it_grows_no_further_than_what_is_in_flight_and_not_at_the_limit() {
    let mut w = window(20_000.0);
    let acked = Update {
        unmarked_bytes: 20_000.0,
        ..quiet(0)
    };
    w.update(&Update {
        flight: 12_000.0,
        ..acked
    });
    near(w.bytes(), 20_000.0);
    w.update(&Update {
        at_limit: true,
        ..acked
    });
    near(w.bytes(), 20_000.0);
}

#[test]
fn growth_slows_beside_a_queue_after_congestion_and_near_the_old_maximum() {
    let grown = |inflection: f64, congested: Option<Instant>, average_ms: f64| {
        let mut w = window(20_000.0);
        w.inflection = inflection;
        w.congested = congested;
        w.update(&Update {
            unmarked_bytes: 20_000.0,
            average_ms,
            ..quiet(2500)
        });
        w.bytes() - 20_000.0
    };
    near(grown(1.0, None, 0.0), 950.0 * 1.4);
    // Average 7.5 of 15 ms: half.
    near(grown(1.0, None, 7.5), 475.0 * 1.4);
    // 50 of the 100 round trips after congestion: half of the two percent.
    near(grown(1.0, Some(ms(0)), 0.0), 950.0 * 1.2);
    // At the inflection point: a quarter, and a tenth of the two percent.
    near(grown(20_000.0, None, 0.0), 950.0 * 0.25 * (1.0 + 0.4 * 0.1));
}
