use super::*;

const DELAY_BASED: Rate = Rate::from_mbps(4);

fn kbps(n: u64) -> Rate {
    Rate::from_kbps(n)
}

/// Reports `seconds` of 100 packets a second; every `nth` packet is lost.
fn feed(loss: &mut LossBased, from: u64, seconds: u64, nth: u64, throughput: Rate) {
    for i in from * 100..(from + seconds) * 100 {
        let sent = Instant::ZERO + Duration::from_millis(10 * i);
        loss.on_packet(i, sent, Bytes(1250), i % nth == 0);
        loss.update(DELAY_BASED, Some(throughput), false);
    }
}

fn new() -> LossBased {
    LossBased::new(kbps(300), kbps(50), kbps(10_000))
}

#[test]
fn little_loss_leaves_the_delay_based_rate() {
    let mut loss = new();
    feed(&mut loss, 0, 10, 50, kbps(980));
    assert_eq!(loss.bound(DELAY_BASED), DELAY_BASED);
    assert!((loss.average_loss() - 0.02).abs() < 0.02);
}

#[test]
fn much_loss_bounds_and_recovers() {
    let mut loss = new();
    // Half lost at 1 Mbps: at most 75 / 0.45 = 167 kbps.
    feed(&mut loss, 0, 5, 2, kbps(500));
    let bound = loss.bound(DELAY_BASED);
    assert!(bound >= kbps(50) && bound <= kbps(170), "{bound:?}");
    feed(&mut loss, 5, 10, u64::MAX, kbps(1000));
    assert_eq!(loss.bound(DELAY_BASED), DELAY_BASED);
}

#[test]
fn a_packet_that_arrives_after_all_is_not_lost() {
    let mut partial = Partial::new();
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    for number in 0..30 {
        partial.on_packet(number, at(10 * number), Bytes(1000), true);
    }
    for number in 0..10 {
        partial.on_packet(number, at(10 * number), Bytes(1000), false);
        partial.on_packet(20 + number, at(200 + 10 * number), Bytes(1000), true);
    }
    let observation = partial.complete().unwrap();
    assert_eq!((observation.received, observation.lost), (10, 20));
    // 30,000 bytes in the 290 ms between the first and the last.
    let expected = Bytes(30_000) / Duration::from_millis(290);
    assert_eq!(observation.sending_rate, expected);
}
