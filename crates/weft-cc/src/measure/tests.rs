use super::*;
use weft_units::{Duration, Instant, Rate};

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

#[test]
fn the_queue_is_what_exceeds_the_least_delay_whatever_the_clocks_say() {
    let mut base = BaseDelay::new(TEN_MINUTES);
    let offset = Duration::from_secs(1000);
    assert_eq!(base.queue_ms(ms(60), ms(0), ms(40) + offset), 0.0);
    assert_eq!(base.queue_ms(ms(95), ms(20), ms(75) + offset), 15.0);
    assert_eq!(base.queue_ms(ms(90), ms(40), ms(70) + offset), 0.0);
    assert_eq!(base.queue_ms(ms(120), ms(60), ms(100) + offset), 10.0);
    // The receiver's clock is set back by 500 s: measuring restarts.
    assert_eq!(base.queue_ms(ms(140), ms(80), ms(500_120)), 0.0);
    assert_eq!(base.queue_ms(ms(160), ms(100), ms(500_150)), 10.0);
}

#[test]
fn a_window_forgets_a_shorter_way() {
    let mut base = BaseDelay::new(Duration::from_secs(10));
    base.queue_ms(ms(0), ms(0), ms(20));
    let mut queue = 0.0;
    for at in (1000..20_000).step_by(100) {
        queue = base.queue_ms(ms(at), ms(at), ms(at + 50));
        if at < 9000 {
            assert_eq!(queue, 30.0, "at {at} ms");
        }
    }
    assert_eq!(queue, 0.0);
}

#[test]
fn the_rate_is_that_of_the_window_and_unknown_before_it_is_full() {
    let mut rate = DeliveryRate::new(Duration::from_millis(500));
    for n in 0..50 {
        rate.on_packet(ms(10 * n), Bytes(1250));
        assert_eq!(rate.rate(), None);
    }
    rate.on_packet(ms(500), Bytes(1250));
    // 51 packets of 10 kbit in half a second.
    assert_eq!(rate.rate(), Some(Rate::from_kbps(1020)));
    // An hour later, the rate is unknown.
    rate.on_packet(ms(3_600_000), Bytes(1250));
    assert_eq!(rate.rate(), None);
}

#[test]
fn silence_counts_only_while_something_is_sent() {
    let mut silence = Silence::default();
    silence.on_sent(ms(0));
    assert_eq!(silence.poll_timeout(), None);
    silence.on_sent(ms(3000));
    assert_eq!(silence.poll_timeout().map(|d| d.at), Some(ms(3000)));
    assert!(!silence.drops(ms(2999)));
    assert!(silence.drops(ms(3000)) && !silence.drops(ms(3999)));
    assert!(silence.is_active());
    assert!(silence.on_feedback());
    assert!(!silence.is_active() && !silence.on_feedback());
}
