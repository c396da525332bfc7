use crate::Limits;
use weft_units::{Duration, Instant, Rate};

/// Thresholds of the loss share: below the first the estimate grows by a factor, above
/// the second it falls by half of the share (section 6).
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.10;
const GROWTH: f64 = 1.05;
/// Interval of loss estimates: the longest feedback interval that section 3 recommends.
/// Our feedback interval is shorter and would compound the factors.
const INTERVAL: Duration = Duration::from_millis(100);

/// Loss-based controller (section 6).
#[derive(Debug)]
pub(super) struct LossBased {
    limits: Limits,
    /// `As_hat`.
    estimate: Rate,
    packets: u32,
    lost: u32,
    share: f64,
    judged: Option<Instant>,
}

impl LossBased {
    pub(super) fn new(limits: Limits) -> LossBased {
        LossBased {
            limits,
            estimate: limits.start,
            packets: 0,
            lost: 0,
            share: 0.0,
            judged: None,
        }
    }

    pub(super) fn estimate(&self) -> Rate {
        self.estimate
    }

    /// Returns the share of lost packets in the last interval.
    pub(super) fn share(&self) -> f64 {
        self.share
    }

    pub(super) fn set_estimate(&mut self, rate: Rate) {
        self.estimate = self.limits.clamp(rate);
    }

    pub(super) fn on_packet(&mut self, lost: bool) {
        self.packets = self.packets.saturating_add(1);
        self.lost = self.lost.saturating_add(u32::from(lost));
    }

    /// Updates the estimate after all packets of a feedback message. The delay-based
    /// estimate bounds it; otherwise a loss would take long to show. The draft does not
    /// say this; its predecessor (draft-alvestrand-rmcat-congestion-02 section 4) has
    /// this bound.
    pub(super) fn update(&mut self, now: Instant, delay_based: Rate) {
        let judged = *self.judged.get_or_insert(now);
        if now.saturating_since(judged) >= INTERVAL && self.packets > 0 {
            self.judged = Some(now);
            self.share = f64::from(self.lost) / f64::from(self.packets);
            (self.packets, self.lost) = (0, 0);
            let factor = match self.share {
                p if p > HIGH_LOSS => 1.0 - 0.5 * p,
                p if p < LOW_LOSS => GROWTH,
                _ => 1.0,
            };
            self.estimate = self.estimate.mul_f64(factor);
        }
        self.estimate = self.limits.clamp(self.estimate.min(delay_based));
    }
}

#[cfg(test)]
mod tests;
