use weft_units::{Duration, Ecn, Instant};

use super::{Arrival, MAX_ARRIVALS, ReceiveLog, Report};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn plain(ms: u64) -> Arrival {
    Arrival {
        at: at(ms),
        ecn: Ecn::NotEct,
    }
}

fn numbers(report: &Report) -> Vec<u64> {
    report.arrivals.iter().map(|(n, _)| n % 65_536).collect()
}

#[test]
fn every_arrival_is_reported_twice() {
    let mut log = ReceiveLog::default();
    let mut seen = Vec::new();
    for round in 0..4_u16 {
        log.on_packet(round, plain(u64::from(round)));
        seen.push(numbers(&log.take_report()));
    }
    assert_eq!(seen, [vec![0], vec![0, 1], vec![1, 2], vec![2, 3]]);
    assert!(!log.has_fresh());
}

#[test]
fn a_late_arrival_is_reported_again_from_its_number_on() {
    let mut log = ReceiveLog::default();
    for number in [0, 1, 3, 4, 5, 6] {
        log.on_packet(number, plain(1));
    }
    log.take_report();
    log.on_packet(7, plain(2));
    log.take_report();
    log.on_packet(2, plain(3));
    let report = log.take_report();
    assert_eq!(report.first % 65_536, 2);
    assert_eq!(numbers(&report)[0], 2);
}

#[test]
fn an_old_arrival_changes_nothing() {
    let mut log = ReceiveLog::default();
    for number in 0..2000 {
        log.on_packet(number, plain(1));
    }
    log.take_report();
    log.take_report();
    log.on_packet(3, plain(2));
    assert!(numbers(&log.take_report()).iter().all(|n| *n > 1000));
}

#[test]
fn copies_count_by_first_arrival_and_any_mark() {
    let mut log = ReceiveLog::default();
    let arrival = |ms, ecn| Arrival { at: at(ms), ecn };
    log.on_packet(1, arrival(1, Ecn::Ect1));
    log.on_packet(2, arrival(2, Ecn::Ce));
    log.on_packet(1, arrival(3, Ecn::Ce));
    log.on_packet(2, arrival(4, Ecn::Ect1));
    let report = log.take_report();
    let times: Vec<Instant> = report.arrivals.iter().map(|(_, at)| *at).collect();
    assert_eq!(times, [at(1), at(2)]);
    assert_eq!(report.marks, [Ecn::Ce, Ecn::Ce]);
}

#[test]
fn marks_are_reported_only_if_there_are_any() {
    let mut log = ReceiveLog::default();
    log.on_packet(1, plain(1));
    assert_eq!(log.take_report().marks, []);
    let ecn = Ecn::Ect0;
    log.on_packet(2, Arrival { at: at(2), ecn });
    assert_eq!(log.take_report().marks, [Ecn::NotEct, Ecn::Ect0]);
}

#[test]
fn a_packet_that_comes_after_its_copy_is_reported_once() {
    let mut log = ReceiveLog::default();
    log.on_packet(7, plain(0));
    log.on_copy(8, at(1));
    assert_eq!(numbers(&log.take_report()), [7]);
    assert!(log.on_awaited(8, plain(30)));
    assert!(!log.on_awaited(8, plain(31)), "a duplicate");
    assert!(!log.on_awaited(7, plain(31)), "a replay");
    let report = log.take_report();
    assert_eq!(numbers(&report), [7, 8]);
    assert_eq!(report.arrivals[1].1, at(30));
    assert!(!log.has_fresh());
}

#[test]
fn a_copy_explains_a_gap_only_as_long_as_the_sender_remembers() {
    let mut log = ReceiveLog::default();
    log.on_packet(0, plain(0));
    log.on_copy(1, at(0));
    // Numbers continue and wrap.
    for number in 2..70_000_u32 {
        log.on_packet(number as u16, plain(u64::from(number) / 20));
        log.take_report();
    }
    assert!(!log.on_awaited(1, plain(3_501)));
    assert!(!log.has_fresh());
    for number in 0..2 * MAX_ARRIVALS {
        log.on_copy(number as u16, at(3_600));
    }
    assert_eq!(log.awaited.len(), MAX_ARRIVALS);
}

#[test]
fn packets_that_nobody_requests_are_forgotten_after_a_second() {
    let mut log = ReceiveLog::default();
    for number in 0..u16::MAX {
        log.on_packet(number, plain(1));
        log.on_copy(number, at(1));
    }
    // SECURITY.md has the figure.
    assert_eq!((log.arrivals.len(), log.awaited.len()), (4096, 4096));
}
