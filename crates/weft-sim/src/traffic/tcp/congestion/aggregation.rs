//! Segments that acknowledgements deliver in excess of the bandwidth, because receivers
//! and links aggregate them (draft-ietf-ccwg-bbr-01 section 5.5.9). They are allowed in
//! flight beyond the path's capacity.

use weft_units::Instant;

use super::AckSample;
use super::filter::WindowedMax;

/// Window in rounds; Linux's two slots of five keep between five and ten.
const WINDOW: u64 = 10;

/// Excess over the deliveries at the bandwidth, since the last acknowledgement below
/// them.
pub(super) struct Aggregation {
    since: Instant,
    delivered: f64,
    excess: WindowedMax,
}

impl Aggregation {
    pub fn new(now: Instant) -> Aggregation {
        Aggregation {
            since: now,
            delivered: 0.0,
            excess: WindowedMax::new(WINDOW),
        }
    }

    /// Updates the excess at a `bandwidth` of segments per second. Excess above the
    /// `window` does not count.
    pub fn on_ack(&mut self, ack: &AckSample, bandwidth: f64, round: u64, window: f64) {
        if ack.delivered == 0 {
            return;
        }
        let mut expected = bandwidth * ack.now.saturating_since(self.since).as_secs_f64();
        if self.delivered <= expected {
            (self.since, self.delivered, expected) = (ack.now, 0.0, 0.0);
        }
        self.delivered += f64::from(ack.delivered);
        let excess = (self.delivered - expected).ceil();
        self.excess.update(round, excess.min(window));
    }

    /// Forgets the previous excess.
    pub fn restart(&mut self, now: Instant) {
        (self.since, self.delivered) = (now, 0.0);
        self.excess.clear();
    }

    /// Returns the maximum of the last rounds, in segments.
    pub fn most(&self) -> f64 {
        self.excess.max()
    }
}

#[cfg(test)]
mod tests;
