use super::*;

const RTT: Duration = Duration::from_millis(100);
const DELAY_BASED: Rate = Rate::from_mbps(4);

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn new() -> LossThresholds {
    LossThresholds::new(Limits {
        min: Rate::from_kbps(50),
        start: Rate::from_kbps(1000),
        max: Rate::from_kbps(10_000),
    })
}

/// Feeds a hundred packets a second between two times in milliseconds, with feedback
/// every 50 ms and this many losses per 20 packets.
fn feed(loss: &mut LossThresholds, (from, to): (u64, u64), lost_of_20: u64) {
    for ms in (from..to).step_by(10) {
        if ms % 50 == 0 {
            loss.update(at(ms), DELAY_BASED, RTT);
        }
        let number = ms / 10;
        loss.on_packet(number, Bytes(1250), number % 20 < lost_of_20);
    }
}

#[test]
fn without_loss_the_beginning_takes_the_delay_based_rate() {
    let mut loss = new();
    feed(&mut loss, (0, 300), 0);
    assert_eq!(loss.target(), DELAY_BASED);
}

#[test]
fn little_loss_lets_it_grow_by_eight_per_cent_a_second() {
    let mut loss = new();
    // Twenty packets are evaluated after 200 ms: 5 % is between 2 and 10 %.
    loss.update(at(0), Rate::from_kbps(1000), RTT);
    feed(&mut loss, (2_000, 3_000), 1);
    let held = loss.target();
    feed(&mut loss, (3_000, 4_000), 1);
    assert_eq!(loss.target(), held);
    assert_eq!(loss.share(), 0.05);
    // The loss ends; the first twenty packets without loss are evaluated at 4.2 s.
    feed(&mut loss, (4_000, 5_150), 0);
    let second = held.mul_f64(1.08) + Rate::from_kbps(1);
    assert_eq!(loss.target(), second);
    feed(&mut loss, (5_150, 6_150), 0);
    assert!(loss.target() > second && loss.target() <= second.mul_f64(1.09));
}

#[test]
fn much_loss_lowers_it_by_half_of_the_share_once_in_300_ms_and_a_round_trip() {
    let mut loss = new();
    loss.update(at(0), Rate::from_kbps(1000), RTT);
    feed(&mut loss, (2_000, 2_200), 4);
    let before = loss.target();
    // 20 % lost: the first twenty packets are evaluated at 2.2 s, and the next decrease
    // is 400 ms later.
    feed(&mut loss, (2_200, 2_210), 4);
    assert_eq!(loss.share(), 0.2);
    let fallen = before.mul_f64(0.9);
    assert_eq!(loss.target(), fallen);
    feed(&mut loss, (2_210, 2_600), 4);
    assert_eq!(loss.target(), fallen);
    feed(&mut loss, (2_600, 2_610), 4);
    assert_eq!(loss.target(), fallen.mul_f64(0.9));
}

#[test]
fn a_probe_lifts_it_and_the_delay_based_rate_bounds_it() {
    let mut loss = new();
    feed(&mut loss, (2_000, 3_000), 1);
    loss.on_probe(Rate::from_kbps(3000));
    loss.update(at(3_000), DELAY_BASED, RTT);
    assert_eq!(loss.target(), Rate::from_kbps(3000));
    loss.update(at(3_050), Rate::from_kbps(700), RTT);
    assert_eq!(loss.target(), Rate::from_kbps(700));
}
