use weft_units::{Duration, Instant};

use super::ReceiveLog;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn numbers(report: &(u64, Vec<(u64, Instant)>)) -> Vec<u64> {
    report.1.iter().map(|(n, _)| n % 65_536).collect()
}

#[test]
fn every_arrival_is_reported_twice() {
    let mut log = ReceiveLog::default();
    let mut seen = Vec::new();
    for round in 0..4_u16 {
        log.on_packet(at(u64::from(round)), round);
        seen.push(numbers(&log.take_report()));
    }
    assert_eq!(seen, [vec![0], vec![0, 1], vec![1, 2], vec![2, 3]]);
    assert!(!log.has_fresh());
}

#[test]
fn a_late_arrival_is_reported_again_from_its_number_on() {
    let mut log = ReceiveLog::default();
    for number in [0, 1, 3, 4, 5, 6] {
        log.on_packet(at(1), number);
    }
    log.take_report();
    log.on_packet(at(2), 7);
    log.take_report();
    log.on_packet(at(3), 2);
    let report = log.take_report();
    assert_eq!(report.0 % 65_536, 2);
    assert_eq!(numbers(&report)[0], 2);
}

#[test]
fn an_arrival_from_long_ago_is_no_news() {
    let mut log = ReceiveLog::default();
    for number in 0..2000 {
        log.on_packet(at(1), number);
    }
    log.take_report();
    log.take_report();
    log.on_packet(at(2), 3);
    assert!(numbers(&log.take_report()).iter().all(|n| *n > 1000));
}
