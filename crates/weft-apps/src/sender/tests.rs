use super::*;
use crate::{App, Family};

fn model(app: App) -> Model {
    match app.family() {
        Family::Model(model) => model,
        Family::Webrtc(_) => panic!("{app} is a call"),
    }
}

/// Returns the packets that a sender makes in this many seconds without a report.
fn alone(app: App, seconds: u64) -> Vec<(Instant, Packet)> {
    let mut sender = Sender::new(&model(app), Instant::ZERO, &Rng::new(1));
    let mut made = Vec::new();
    while let Some(deadline) = sender.poll_timeout()
        && deadline.at < Instant::ZERO + Duration::from_secs(seconds)
    {
        sender.handle_timeout(deadline.at);
        while let Some(packet) = sender.poll_transmit() {
            made.push((deadline.at, packet));
        }
    }
    made
}

#[test]
fn packets_are_numbered_and_counted_and_fit() {
    let made = alone(App::WhatsApp, 10);
    let mut sent = 0;
    for (number, (_, packet)) in (1..).zip(&made) {
        sent += packet.size.0;
        assert_eq!((packet.number, packet.sent.0), (number, sent));
        assert!((LEAST_PACKET..=1200).contains(&packet.size.0), "{packet:?}");
    }
}

/// 450 kbit/s for 60 s, despite varying picture sizes.
#[test]
fn the_rate_is_that_of_the_plan() {
    let made = alone(App::WhatsApp, 60);
    let rate = made.last().unwrap().1.sent / Duration::from_secs(60);
    assert!((440.0..460.0).contains(&rate.as_kbps()), "{rate:?}");
}

/// 30 % with a memory of one second: within sixty seconds, some pictures deviate far from
/// the mean, and consecutive pictures have similar sizes.
#[test]
fn sizes_swing_as_their_parameter_says() {
    let mut swing = Swing::new((0.3, Duration::from_secs(1)), Rng::new(7));
    let frame = Duration::from_millis(40);
    let values: Vec<f64> = (0..50_000).map(|_| swing.next(frame) - 1.0).collect();
    let n = values.len() as f64;
    let deviation = (values.iter().map(|v| v * v).sum::<f64>() / n).sqrt();
    let beside = values.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n;
    assert!((0.27..0.33).contains(&deviation), "{deviation}");
    // exp(-0.04) is 0.96.
    let correlation = beside / (deviation * deviation);
    assert!((0.94..0.98).contains(&correlation), "{correlation}");
}

#[test]
fn a_report_of_what_was_never_sent_changes_nothing() {
    let mut sender = Sender::new(&model(App::XLite), Instant::ZERO, &Rng::new(1));
    for second in 1..20 {
        let report = Report {
            at: Instant::ZERO + Duration::from_secs(second),
            highest: 1_000_000 * second,
            sent: Bytes(1_000_000_000 * second),
            packets: 1,
            received: Bytes(1),
            transit: None,
        };
        sender.handle_report(report.at, &report);
        sender.handle_timeout(report.at);
    }
    assert_eq!(sender.rate(), Rate::from_kbps(500));
}
