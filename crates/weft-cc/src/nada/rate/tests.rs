use super::*;

const LIMITS: Limits = Limits {
    min: Rate::from_kbps(150),
    start: Rate::from_kbps(500),
    max: Rate::from_kbps(1500),
};
const INTERVAL: Duration = Duration::from_millis(100);

fn report(congestion_ms: f64, mode: Mode) -> Report {
    Report {
        congestion_ms,
        mode,
    }
}

#[test]
fn ramp_up_exceeds_what_is_received_by_what_the_queue_may_take() {
    let mut rate = ReferenceRate::new(LIMITS);
    // gamma = 50 / (80 + 100 + 120) = 1/6
    let rtt = Some(Duration::from_millis(80));
    let received = Some(Rate::from_kbps(600));
    rate.update(&report(0.0, Mode::RampUp), received, rtt, INTERVAL);
    assert_eq!(rate.get(), Rate::from_kbps(700));
    // Ramp-up never lowers the rate.
    let received = Some(Rate::from_kbps(300));
    rate.update(&report(0.0, Mode::RampUp), received, rtt, INTERVAL);
    assert_eq!(rate.get(), Rate::from_kbps(700));
}

#[test]
fn the_gradual_update_by_hand() {
    let mut rate = ReferenceRate::new(LIMITS);
    // x_offset = 40 - 10 * 1500 / 500 = 10, x_diff = 40:
    // 0.5 * 0.2 * 10/500 + 0.5 * 2 * 40/500 = 0.002 + 0.08
    rate.update(&report(40.0, Mode::Gradual), None, None, INTERVAL);
    assert_eq!(rate.get(), Rate::from_bps(459_000));
    // x_offset = 40 - 10 * 1500 / 459, x_diff = 0.
    rate.update(&report(40.0, Mode::Gradual), None, None, INTERVAL);
    let change: f64 = 0.1 * (40.0 - 15_000.0 / 459.0) / 500.0;
    let expected = (459_000.0 * (1.0 - change)) as u64;
    assert_eq!(rate.get(), Rate::from_bps(expected));
}

#[test]
fn at_equilibrium_it_stays_and_at_absurd_signals_it_keeps_to_the_limits() {
    let mut rate = ReferenceRate::new(LIMITS);
    rate.previous_ms = 30.0;
    rate.update(&report(30.0, Mode::Gradual), None, None, INTERVAL);
    assert_eq!(rate.get(), LIMITS.start);
    rate.update(&report(1e12, Mode::Gradual), None, None, INTERVAL);
    assert_eq!(rate.get(), LIMITS.min);
    rate.update(&report(0.0, Mode::Gradual), None, None, INTERVAL);
    assert_eq!(rate.get(), LIMITS.max);
}

#[test]
fn the_applications_maximum_bounds_the_rate() {
    let mut rate = ReferenceRate::new(LIMITS);
    rate.set_demand(Rate::from_kbps(1000));
    // 10 * 1000 / 500: the equilibrium is now 20 ms, not 30.
    rate.previous_ms = 20.0;
    rate.update(&report(20.0, Mode::Gradual), None, None, INTERVAL);
    assert_eq!(rate.get(), LIMITS.start);
    rate.set_demand(Rate::from_kbps(400));
    assert_eq!(rate.get(), Rate::from_kbps(400));
    rate.set_demand(Rate::ZERO);
    assert_eq!(rate.get(), LIMITS.min);
}

/// At equilibrium `x_offset` is zero, so `x_curr = PRIO XREF RMAX / r`. Behind one queue
/// `x_curr` is the same for all flows, so twice the weight gets twice the rate.
#[test]
fn twice_the_weight_rests_at_twice_the_rate() {
    // 30 ms = PRIO * 10 ms * 1500 kbps / r: 500 kbps, and 1000 kbps.
    for (weight, rest) in [(1.0, 500), (2.0, 1000)] {
        let mut rate = ReferenceRate::new(LIMITS);
        rate.set_priority(weight);
        rate.set(Rate::from_kbps(rest));
        rate.previous_ms = 30.0;
        rate.update(&report(30.0, Mode::Gradual), None, None, INTERVAL);
        assert_eq!(rate.get(), Rate::from_kbps(rest));
    }
    let mut before = ReferenceRate::new(LIMITS);
    before.set_priority(2.0);
    let mut after = ReferenceRate::new(LIMITS);
    after.keep_application(&before);
    assert!((after.priority - 2.0).abs() < 1e-9);
    after.set_priority(f64::NAN);
    assert!((after.priority - 2.0).abs() < 1e-9);
    after.set_priority(f64::INFINITY);
    assert!((after.priority - 100.0).abs() < 1e-9);
}
