//! How many segments acknowledgements bring more than the bandwidth explains,
//! because receivers and links gather them (draft-ietf-ccwg-bbr-01 section
//! 5.5.9): what is to be in flight beside what the path holds.

use weft_units::Instant;

use super::filter::WindowedMax;

/// Of rounds; Linux's two slots of five keep between five and ten.
const WINDOW: u64 = 10;

/// Excess over what the bandwidth delivers, since the last acknowledgement
/// that was behind it.
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

    /// `delivered` segments came with an acknowledgement, at a `bandwidth` of
    /// segments per second; no excess counts above the `window`.
    pub fn on_ack(
        &mut self,
        now: Instant,
        delivered: u32,
        bandwidth: f64,
        round: u64,
        window: f64,
    ) {
        let mut expected = bandwidth * now.saturating_since(self.since).as_secs_f64();
        if self.delivered <= expected {
            (self.since, self.delivered, expected) = (now, 0.0, 0.0);
        }
        self.delivered += f64::from(delivered);
        self.excess
            .update(round, (self.delivered - expected).min(window));
    }

    /// The most of the last rounds, segments.
    pub fn most(&self) -> f64 {
        self.excess.max()
    }
}

#[cfg(test)]
mod tests;
