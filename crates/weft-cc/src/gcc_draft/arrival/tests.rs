use super::*;
use weft_units::Duration;

fn us(n: u64) -> Instant {
    Instant::ZERO + Duration::from_micros(n)
}

/// Feeds packets (sent, arrived) in ms; returns the variations (departure, arrival).
fn variations(packets: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut arrivals = Arrivals::default();
    let at = |ms: f64| us((ms * 1e3) as u64);
    packets
        .iter()
        .filter_map(|&(sent, arrived)| arrivals.on_packet(at(sent), at(arrived)))
        .map(|v| (v.departure_ms, v.arrival_ms))
        .collect()
}

#[test]
fn packets_within_5_ms_are_one_group() {
    let packets = [
        (0.0, 20.0),
        (5.0, 26.0), // first group: last sent 5, arrived 26
        (20.0, 40.0),
        (24.0, 47.0), // second: 24, 47
        (40.0, 60.0),
        (60.0, 80.0), // completes the third: 40, 60
    ];
    // d(2) = (47 - 26) - (24 - 5) = 2 ms.
    assert_eq!(variations(&packets), [(19.0, 21.0), (16.0, 13.0)]);
}

#[test]
fn a_burst_after_a_stall_is_one_group() {
    let packets = [
        (0.0, 20.0),
        (10.0, 100.0),
        (20.0, 101.0), // 1 ms apart on arrival, 10 ms when sent: merged
        (30.0, 104.0),
        (40.0, 120.0),
        (50.0, 130.0),
    ];
    // Group (30, 104) against (0, 20), and group (40, 120) against (30, 104).
    assert_eq!(variations(&packets), [(30.0, 84.0), (10.0, 16.0)]);
}

#[test]
fn reordered_packets_and_jumps_of_the_clock_are_left_out() {
    let reordered = [
        (0.0, 20.0),
        (20.0, 40.0),
        (10.0, 41.0),
        (40.0, 60.0),
        (60.0, 80.0),
    ];
    assert_eq!(variations(&reordered), [(20.0, 20.0), (20.0, 20.0)]);
    let jump = [
        (0.0, 20.0),
        (20.0, 40.0),
        (40.0, 9000.0),
        (60.0, 9020.0),
        (80.0, 9040.0),
    ];
    assert_eq!(variations(&jump), [(20.0, 20.0), (20.0, 20.0)]);
}
