use super::*;

/// Sends `kbps` in packets every 10 ms for a second, starting at `from` ms.
fn send(alr: &mut Alr, from: u64, kbps: u64) {
    for i in 1..=100 {
        let now = Instant::ZERO + Duration::from_millis(from + 10 * i);
        alr.on_sent(now, Rate::from_kbps(kbps) * Duration::from_millis(10));
    }
}

#[test]
fn below_65_percent_of_the_target_the_application_limits() {
    let mut alr = Alr::new(Instant::ZERO, Rate::from_kbps(1000));
    send(&mut alr, 0, 700);
    assert_eq!(alr.since(), None);
    // 650 - 100 = 550 kbps unused fill 80 % of 0.5 s at 650 kbps within a second,
    // starting from -50 kbps times a second, clamped.
    send(&mut alr, 1000, 100);
    assert!(alr.since().is_some());
    send(&mut alr, 2000, 1000);
    assert_eq!(alr.since(), None);
    let now = Instant::ZERO + Duration::from_secs(3);
    assert!(alr.now_or_within(now, Duration::from_secs(3)));
    assert!(!alr.now_or_within(now + Duration::from_secs(3), Duration::from_secs(3)));
}

#[test]
fn silence_limits_too() {
    let mut alr = Alr::new(Instant::ZERO, Rate::from_kbps(1000));
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    alr.on_sent(at(390), Bytes::ZERO);
    assert_eq!(alr.since(), None);
    alr.on_sent(at(410), Bytes::ZERO);
    assert_eq!(alr.since(), Some(at(410)));
}
