use super::*;

const LIMITS: Limits = Limits {
    min: Rate::from_kbps(50),
    start: Rate::from_kbps(1000),
    max: Rate::from_mbps(20),
};

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

fn kbps(n: u64) -> Option<Rate> {
    Some(Rate::from_kbps(n))
}

#[test]
fn far_from_convergence_it_grows_by_eight_percent_a_second() {
    let mut control = RateControl::new(LIMITS);
    control.update(ms(0), kbps(1000));
    control.update(ms(1000), kbps(1000));
    assert_eq!(control.estimate(), Rate::from_kbps(1080));
    // Growth covers at most one second, and never exceeds 1.5 times the incoming rate.
    control.update(ms(9000), kbps(1000));
    assert_eq!(control.estimate(), Rate::from_bps(1_166_400));
    control.update(ms(10_000), kbps(700));
    assert_eq!(control.estimate(), Rate::from_kbps(1050));
}

#[test]
fn over_use_takes_it_below_what_arrives_and_then_it_holds() {
    let mut control = RateControl::new(LIMITS);
    control.update(ms(0), kbps(1000));
    control.on_signal(Signal::OverUse, kbps(800));
    assert_eq!(control.estimate(), Rate::from_kbps(680));
    control.on_signal(Signal::Normal, kbps(800));
    assert_eq!(control.state(), "hold");
    control.update(ms(1000), kbps(800));
    assert_eq!(control.estimate(), Rate::from_kbps(680));
    control.on_signal(Signal::UnderUse, kbps(800));
    assert_eq!(control.state(), "hold");
    control.on_signal(Signal::Normal, kbps(800));
    assert_eq!(control.state(), "increase");
}

/// Decreases at 1000 and 900 kbps: average 995, variance 0.05 * 100^2 = 500,
/// three deviations 67 kbps.
#[test]
fn near_the_rate_of_the_last_decreases_it_adds_half_a_packet_per_response_time() {
    let mut control = RateControl::new(LIMITS);
    control.set_rtt(Duration::from_millis(100));
    control.update(ms(0), kbps(1000));
    for incoming in [1000, 900] {
        control.on_signal(Signal::OverUse, kbps(incoming));
        control.on_signal(Signal::Normal, kbps(incoming));
        control.on_signal(Signal::Normal, kbps(incoming));
    }
    control.set_estimate(Rate::from_kbps(960));
    // A frame of 32,000 bits makes 4 packets of 8000; 100 of 200 ms give a quarter.
    control.update(ms(100), kbps(1000));
    assert_eq!(control.estimate(), Rate::from_bps(962_000));
    // Below the band it multiplies again.
    control.update(ms(1100), kbps(900));
    assert_eq!(control.estimate(), Rate::from_bps(962_000).mul_f64(1.08));
    // Above it the old capacity is forgotten.
    control.update(ms(1200), kbps(1100));
    assert_eq!(control.convergence.average, None);
}
