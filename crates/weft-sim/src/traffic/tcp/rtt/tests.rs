use super::Rtt;
use weft_units::{Duration, Instant};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

#[test]
fn the_timeout_follows_rfc_6298() {
    let mut rtt = Rtt::new();
    assert_eq!(rtt.timeout(), ms(1000));
    rtt.on_sample(Instant::ZERO, ms(400));
    // SRTT = R, RTTVAR = R / 2, RTO = SRTT + 4 RTTVAR.
    assert_eq!(rtt.timeout(), ms(400 + 4 * 200));
    rtt.on_sample(Instant::ZERO, ms(480));
    // RTTVAR = 3/4 * 200 + 1/4 * 80 = 170; SRTT = 7/8 * 400 + 1/8 * 480 = 410.
    assert_eq!(rtt.timeout(), ms(410 + 4 * 170));
    rtt.on_timeout();
    assert_eq!(rtt.timeout(), ms(2 * (410 + 4 * 170)));
    assert_eq!(rtt.min(), Some(ms(400)));
}

#[test]
fn a_steady_round_trip_keeps_the_floor() {
    let mut rtt = Rtt::new();
    for _ in 0..200 {
        rtt.on_sample(Instant::ZERO, ms(50));
    }
    assert_eq!(rtt.timeout(), ms(250));
}
