use super::*;
use weft_units::{Bytes, Instant};

fn report(at_ms: u64, highest: u64, packets: u64, transit_ms: i64) -> Report {
    Report {
        at: Instant::ZERO + Duration::from_millis(at_ms),
        highest,
        sent: Bytes(highest * 1000),
        packets,
        received: Bytes(packets * 1000),
        transit: Some(transit_ms * 1_000_000),
    }
}

/// 100 packets of 1000 bytes a second, 90 of which arrive: 10 % loss, and 720 kbit/s
/// arrive.
#[test]
fn loss_and_rate_are_those_of_the_time_asked_for() {
    let mut history = ReportHistory::default();
    for second in 0..=4 {
        history.add(&report(1000 * second, 100 * second, 90 * second, 20));
    }
    let last = history.over(Duration::from_secs(2)).unwrap();
    assert!((last.loss - 0.1).abs() < 1e-9, "{last:?}");
    assert!((last.arrived - 0.9).abs() < 1e-9);
    assert_eq!(last.rate, Rate::from_kbps(720));
}

#[test]
fn silence_is_loss_of_everything() {
    let mut history = ReportHistory::default();
    for second in 0..4 {
        history.add(&report(1000 * second, 100, 90, 20));
    }
    let last = history.over(Duration::from_secs(2)).unwrap();
    assert_eq!((last.loss, last.rate), (1.0, Rate::ZERO));
}

#[test]
fn the_queue_is_the_transit_above_the_least_of_the_call() {
    let mut history = ReportHistory::default();
    history.add(&report(0, 1, 1, -5));
    history.add(&report(1000, 2, 2, 70));
    assert_eq!(history.queueing(), Some(Duration::from_millis(75)));
}

#[test]
fn a_report_that_comes_late_changes_nothing() {
    let mut history = ReportHistory::default();
    assert!(history.add(&report(2000, 200, 200, 20)));
    assert!(!history.add(&report(1000, 100, 50, 20)));
    assert_eq!(
        history.over(Duration::from_secs(1)),
        None,
        "too short a time"
    );
}
