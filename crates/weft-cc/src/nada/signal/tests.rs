use super::*;
use crate::SentPacket;
use weft_units::{Bytes, Duration};

fn result(n: u64, delay_ms: Option<u64>, ecn: Ecn) -> PacketResult {
    let sent_at = Instant::ZERO + Duration::from_millis(10 * n);
    PacketResult {
        sent: SentPacket {
            number: n,
            sent_at,
            size: Bytes(1200),
            probe: None,
        },
        arrival: delay_ms.map(|ms| sent_at + Duration::from_millis(ms)),
        ecn,
        unmeasured_before: Bytes::ZERO,
    }
}

/// Feeds one packet every 10 ms with the delay that `delay` returns.
fn feed(signal: &mut CongestionSignal, range: std::ops::Range<u64>, delay: fn(u64) -> Option<u64>) {
    for n in range {
        let result = result(n, delay(n), Ecn::NotEct);
        signal.on_packet(result.sent.sent_at, &result);
    }
}

#[track_caller]
fn near(value: f64, expected: f64) {
    assert!((value - expected).abs() < 1e-6, "{value}, not {expected}");
}

#[test]
fn warping_begins_at_50_ms_and_only_beside_losses() {
    near(tilde_ms(49.0, Some(0.0)), 49.0);
    near(tilde_ms(100.0, None), 100.0);
    // 50 exp(-0.5) and 50 exp(-2.5)
    near(tilde_ms(100.0, Some(7.0)), 30.326_532_985);
    near(tilde_ms(300.0, Some(0.0)), 4.104_249_931);
    // Halfway through the transition, and after it.
    near(tilde_ms(100.0, Some(7.5)), 65.163_266_493);
    near(tilde_ms(100.0, Some(8.0)), 100.0);
}

#[test]
fn a_queue_counts_when_fifteen_packets_in_a_row_have_it() {
    let mut signal = CongestionSignal::default();
    feed(&mut signal, 0..60, |_| Some(20));
    assert_eq!(signal.report().mode, Mode::RampUp);
    feed(&mut signal, 60..74, |_| Some(45));
    near(signal.report().congestion_ms, 0.0);
    feed(&mut signal, 74..75, |_| Some(45));
    let report = signal.report();
    near(report.congestion_ms, 25.0);
    assert_eq!(report.mode, Mode::Gradual);
    // The mode stays for `LOGWIN` after the queue is gone.
    feed(&mut signal, 75..120, |_| Some(20));
    assert_eq!(signal.report().mode, Mode::Gradual);
    feed(&mut signal, 120..128, |_| Some(20));
    assert_eq!(signal.report().mode, Mode::RampUp);
}

/// A loss of 5 of the 50 packets in the window: p_inst 0.1, p_loss 0.01 after the first
/// report, so the penalty is DLOSS.
#[test]
fn losses_cost_ten_milliseconds_at_one_percent() {
    let mut signal = CongestionSignal::default();
    feed(&mut signal, 0..51, |n| (n % 10 != 5).then_some(20));
    let report = signal.report();
    let p = 0.1 * 5.0 / 51.0;
    near(signal.loss(), p);
    near(report.congestion_ms, 10.0 * (p / 0.01) * (p / 0.01));
    assert_eq!(report.mode, Mode::Gradual);
    // A loss every 10 packets with 9 arrivals between them: the last loss is recent.
    assert!(signal.losses.age().unwrap() < 1.0);
}

#[test]
fn marks_cost_two_milliseconds_at_one_percent() {
    let mut signal = CongestionSignal::default();
    for n in 0..51 {
        let ecn = if n % 10 == 5 { Ecn::Ce } else { Ecn::Ect0 };
        let result = result(n, Some(20), ecn);
        signal.on_packet(result.sent.sent_at, &result);
    }
    let report = signal.report();
    let p = 0.1 * 5.0 / 51.0;
    near(report.congestion_ms, 2.0 * (p / 0.01) * (p / 0.01));
    assert_eq!(report.mode, Mode::Gradual);
}
