use super::*;

const LIMITS: Limits = Limits {
    min: Rate::from_kbps(150),
    start: Rate::from_kbps(1000),
    max: Rate::from_mbps(10),
};

/// Returns the rate after an interval in which 25,000 bytes were sent: 1 Mbps.
fn after(change: impl FnOnce(&mut MediaRate), is_fast: bool, trend: f64) -> f64 {
    let mut media = MediaRate::new(LIMITS);
    media.update(Instant::ZERO, is_fast, trend, 0.0);
    media.on_sent(Bytes(25_000));
    change(&mut media);
    media.update(Instant::ZERO + INTERVAL, is_fast, trend, 0.0);
    media.target().as_kbps()
}

#[test]
fn fast_increase_ramps_up_by_200_kbps_a_second() {
    assert_eq!(after(|_| {}, true, 0.0), 1040.0);
    // At the last maximum, it grows by a fifth of that.
    assert_eq!(after(|m| m.last_max = 1e6, true, 0.0), 1008.0);
}

#[test]
fn the_senders_own_queue_lowers_the_rate() {
    // 1 Mbit - 8 * 30000 leaves more than the ramp: 1040 kbps. The queue takes 0.24 s,
    // which gives 0.95.
    assert_eq!(after(|m| m.set_backlog(Bytes(30_000)), false, 0.0), 988.0);
    // 1 Mbit minus 1.2 Mbit: -200 kbps, then 0.95.
    assert_eq!(after(|m| m.set_backlog(Bytes(150_000)), false, 0.0), 760.0);
}

#[test]
fn it_stays_within_twice_of_what_the_encoder_makes() {
    // 5000 bytes sent, which are all that was made: 200 kbps, and at most twice that.
    assert_eq!(after(|m| m.sent = Bytes(5000), true, 0.0), 400.0);
}

#[test]
fn events_cost_a_tenth() {
    let mut media = MediaRate::new(LIMITS);
    media.shrink(Event::Loss);
    assert_eq!(media.target(), Rate::from_kbps(900));
    media.shrink(Event::Mark);
    assert_eq!(media.target(), Rate::from_kbps(810));
}
