use super::*;

const LIMITS: Limits = Limits {
    min: Rate::from_kbps(50),
    start: Rate::from_kbps(600),
    max: Rate::from_mbps(4),
};
const RTT: Duration = Duration::from_millis(60);

fn second(n: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(n)
}

#[test]
fn without_loss_the_rate_grows_by_eight_percent_a_second_to_the_limit() {
    let mut controller = Reports::new(LIMITS, Instant::ZERO);
    controller.on_report(second(1), 100, 0, Some(RTT));
    assert_eq!(controller.target_rate(), Rate::from_kbps(649));
    // A second report within the same second adds nothing.
    let soon = second(1) + Duration::from_millis(300);
    controller.on_report(soon, 100, 0, Some(RTT));
    assert_eq!(controller.target_rate(), Rate::from_kbps(649));
    for n in 2..60 {
        controller.on_report(second(n), 100, 0, Some(RTT));
    }
    assert_eq!(controller.target_rate(), LIMITS.max);
}

#[test]
fn much_loss_halves_itself_out_of_the_rate_and_some_holds_it() {
    let mut controller = Reports::new(LIMITS, Instant::ZERO);
    // 20 of 100 lost: 600 * (1 - 0.1).
    controller.on_report(second(1), 100, 20, Some(RTT));
    assert_eq!(controller.target_rate(), Rate::from_kbps(540));
    controller.on_report(second(2), 100, 5, Some(RTT));
    assert_eq!(controller.target_rate(), Rate::from_kbps(540));
    for n in 3..40 {
        controller.on_report(second(n), 100, 100, Some(RTT));
    }
    assert_eq!(controller.target_rate(), LIMITS.min);
}

#[test]
fn fewer_than_twenty_packets_are_not_evidence() {
    let mut controller = Reports::new(LIMITS, Instant::ZERO);
    controller.on_report(second(1), 10, 4, Some(RTT));
    assert_eq!(controller.target_rate(), LIMITS.start);
    // 4 of 20: 600 * (1 - 0.1).
    controller.on_report(second(2), 10, 0, Some(RTT));
    assert_eq!(controller.target_rate(), Rate::from_kbps(540));
}

#[test]
fn a_queue_in_the_round_trip_holds_and_then_lowers_the_rate() {
    let mut controller = Reports::new(LIMITS, Instant::ZERO);
    controller.on_report(second(1), 100, 0, Some(RTT));
    let queued = |ms| Some(RTT + Duration::from_millis(ms));
    controller.on_report(second(2), 100, 0, queued(150));
    assert_eq!(controller.target_rate(), Rate::from_kbps(649));
    controller.on_report(second(3), 100, 0, queued(250));
    // 649 * 0.85
    assert_eq!(controller.target_rate(), Rate::from_bps(551_650));
}

#[test]
fn silence_lowers_the_rate_only_while_something_is_sent_and_is_forgotten_after() {
    let mut controller = Reports::new(LIMITS, Instant::ZERO);
    controller.on_timeout(second(60));
    assert_eq!(controller.target_rate(), LIMITS.start);
    assert_eq!(controller.poll_timeout(), None);
    controller.on_unreported_sent(second(60));
    assert_eq!(controller.poll_timeout().map(|d| d.at), Some(second(66)));
    controller.on_timeout(second(66));
    controller.on_timeout(second(67));
    // 600 * 0.8^2
    assert_eq!(controller.target_rate(), Rate::from_kbps(384));
    controller.on_report(second(68), 300, 280, Some(RTT));
    assert_eq!(controller.target_rate(), LIMITS.start);
}

#[test]
fn a_longer_route_is_not_taken_for_a_queue_for_ever() {
    let mut controller = Reports::new(LIMITS, Instant::ZERO);
    controller.on_report(second(1), 100, 0, Some(RTT));
    for n in 2..700 {
        controller.on_report(second(n), 100, 0, Some(RTT + Duration::from_millis(300)));
    }
    let rate = controller.target_rate();
    assert!(rate > LIMITS.start, "{rate:?}");
}
