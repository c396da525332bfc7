//! CUBIC (RFC 9438), with HyStart++ for its first slow start (section 4.10).

use weft_units::{Duration, Instant};

use super::hystart::{Growth, HyStart};
use super::{AckSample, CongestionControl, INITIAL_WINDOW, Phase};

/// Constant `C` (section 5).
const C: f64 = 0.4;
/// Reduction factor (section 4.6).
const BETA: f64 = 0.7;
/// Additive increase (section 4.3): as fair to Reno as possible with `BETA`.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Largest target, in windows (section 4.2).
const FASTEST: f64 = 1.5;

pub(super) struct Cubic {
    window: f64,
    threshold: f64,
    start: Option<HyStart>,
    /// Window at the last reduction, reduced if it was smaller than at the previous one
    /// (section 4.7).
    plateau: f64,
    /// Window just before the last reduction.
    prior: f64,
    epoch: Option<Epoch>,
}

/// Period of growth.
struct Epoch {
    since: Instant,
    /// Time from `since` to the plateau, in seconds.
    to_plateau: f64,
    plateau: f64,
    /// Window that Reno would have by now.
    estimate: f64,
}

impl Cubic {
    pub fn new() -> Cubic {
        Cubic {
            window: f64::from(INITIAL_WINDOW),
            threshold: f64::INFINITY,
            start: Some(HyStart::default()),
            plateau: 0.0,
            prior: 0.0,
            epoch: None,
        }
    }

    fn slow_start(&mut self, ack: &AckSample) {
        let growth = match &mut self.start {
            Some(start) => start.on_ack(ack),
            None => Growth::By(f64::from(ack.delivered)),
        };
        match growth {
            Growth::By(segments) => {
                self.window = (self.window + segments).min(self.threshold.max(self.window + 1.0));
            }
            Growth::Over => {
                self.start = None;
                self.threshold = self.window;
            }
        }
    }

    fn avoid_congestion(&mut self, ack: &AckSample) {
        let (window, plateau) = (self.window, self.plateau);
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            since: ack.now,
            // Equation 2; without a plateau above, growth starts here.
            to_plateau: ((plateau - window).max(0.0) / C).cbrt(),
            plateau: plateau.max(window),
            estimate: window,
        });
        let delivered = f64::from(ack.delivered);
        let alpha = if epoch.estimate < self.prior {
            ALPHA
        } else {
            1.0
        };
        epoch.estimate += alpha * delivered / window;
        let elapsed = ack.now.saturating_since(epoch.since);
        if epoch.cubic(elapsed) < epoch.estimate {
            self.window = window.max(epoch.estimate);
            return;
        }
        let rtt = ack.min_rtt.unwrap_or_default();
        let target = epoch.cubic(elapsed + rtt).clamp(window, FASTEST * window);
        self.window += (target - window) / window * delivered;
    }
}

impl Epoch {
    /// Returns the window by equation 1.
    fn cubic(&self, elapsed: Duration) -> f64 {
        let t = elapsed.as_secs_f64() - self.to_plateau;
        C * t * t * t + self.plateau
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &AckSample) {
        let grows = matches!(ack.phase, Phase::Open | Phase::Timeout);
        if !grows || !ack.window_was_full {
            return;
        }
        if self.window < self.threshold {
            self.slow_start(ack);
        } else {
            self.avoid_congestion(ack);
        }
    }

    fn on_congestion(&mut self, _now: Instant, _in_flight: u32) {
        self.start = None;
        self.epoch = None;
        self.prior = self.window;
        self.plateau = if self.window < self.plateau {
            self.window * (1.0 + BETA) / 2.0
        } else {
            self.window
        };
        self.threshold = (self.window * BETA).max(2.0);
        self.window = self.threshold;
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        self.on_congestion(now, in_flight);
        self.window = 1.0;
    }

    fn on_recovered(&mut self, _now: Instant) {}

    fn window(&self) -> u32 {
        self.window as u32
    }
}

#[cfg(test)]
mod tests;
