//! Zoom at its lowest rate: packets and their size at a given loss.

use weft_apps::{Model, Packet, Report, Sender};
use weft_units::{Bytes, Duration, Instant, Rng};

/// Returns the packets sent in a minute and their mean size in bytes, while this share is
/// lost and nothing else limits the rate.
pub fn minute_at(loss: f64, model: &Model) -> (f64, f64) {
    let mut sender = Sender::new(model, Instant::ZERO, &Rng::new(1));
    let came = |sent: u64| (sent as f64 * (1.0 - loss)) as u64;
    let mut ends = [(0, Bytes::ZERO); 2];
    for tenth in 1..1201 {
        let now = Instant::ZERO + Duration::from_millis(100 * tenth);
        sender.handle_timeout(now);
        let made = std::iter::from_fn(|| sender.poll_transmit());
        let Some(Packet { number, sent, .. }) = made.last() else {
            continue;
        };
        let report = Report {
            at: now,
            highest: number,
            sent,
            packets: came(number),
            received: Bytes(came(sent.0)),
            transit: Some(0),
        };
        sender.handle_report(now, &report);
        if tenth % 600 == 0 {
            ends.rotate_left(1);
            ends[1] = (number, sent);
        }
    }
    let packets = (ends[1].0 - ends[0].0) as f64;
    (packets, (ends[1].1 - ends[0].1).0 as f64 / packets)
}
