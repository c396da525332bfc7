use weft_cc::{PacketResult, SentPacket};
use weft_units::{Bytes, Duration, Ecn, Instant, Rate};

use super::Forecast;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

const MS: i64 = 1_000_000;

/// Reports a packet of 1,250 bytes with these departure and arrival times.
fn heard(forecast: &mut Forecast, sent: u64, arrived: u64) {
    let result = PacketResult {
        sent: SentPacket {
            number: sent,
            sent_at: at(sent),
            size: Bytes(1250),
            probe: None,
        },
        arrival: Some(at(arrived)),
        ecn: Ecn::NotEct,
        unmeasured_before: Bytes::ZERO,
    };
    forecast.on_feedback(at(arrived + 20), &[result]);
}

#[test]
fn an_empty_path_takes_its_least_delay() {
    let mut forecast = Forecast::default();
    assert_eq!(forecast.delay(at(0), Bytes(1250), Rate::from_mbps(1)), None);
    heard(&mut forecast, 100, 120);
    heard(&mut forecast, 110, 135);
    // 10 ms of transmission at 1 Mbps, and 40 ms have passed since.
    let delay = forecast.delay(at(150), Bytes(1250), Rate::from_mbps(1));
    assert_eq!(delay, Some(20 * MS));
    assert_eq!(forecast.busy_rate(), None);
}

#[test]
fn packets_sent_since_are_in_the_queue() {
    let mut forecast = Forecast::default();
    heard(&mut forecast, 100, 120);
    // 5,000 bytes within 10 ms at 1 Mbps: 40 ms of transmission, of which 10 have passed.
    let delay = forecast.delay(at(110), Bytes(5000), Rate::from_mbps(1));
    assert_eq!(delay, Some(50 * MS));
}

#[test]
fn a_lasting_queue_shows_the_rate_of_its_link() {
    let mut forecast = Forecast::default();
    heard(&mut forecast, 0, 20);
    // One packet goes in every 5 ms, and one comes out every 10 ms: 1 Mbps.
    for n in 1..=12 {
        heard(&mut forecast, 5 * n, 20 + 10 * n);
    }
    assert_eq!(forecast.busy_rate(), Some(Rate::from_mbps(1)));
    // The last packet left at 60 ms and took 80 ms. The 2,500 bytes since then take 20 ms
    // more, although the controller assumes 10 Mbps.
    let delay = forecast.delay(at(70), Bytes(2500), Rate::from_mbps(10));
    assert_eq!(delay, Some((80 - 10 + 20) * MS));
}

#[test]
fn half_the_least_round_trip_stands_for_a_way_that_is_not_known() {
    let mut forecast = Forecast::default();
    heard(&mut forecast, 100, 1130);
    // The clocks are 1,000 ms apart; the answer came 1,050 ms after sending.
    assert_eq!(forecast.offset(), Some((1030 - 525) * MS));
}

#[test]
fn a_queue_that_lasts_for_seconds_belongs_to_others() {
    let mut forecast = Forecast::default();
    heard(&mut forecast, 0, 20);
    for n in 1..=40 {
        heard(&mut forecast, 100 * n, 100 * n + 80);
    }
    assert_eq!(forecast.floor(), Some(20 * MS));
    assert_eq!(forecast.recent_floor(), Some(80 * MS));
}
