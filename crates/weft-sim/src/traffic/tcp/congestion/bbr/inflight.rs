//! Bandwidth in use, and the data in flight at it.

use super::super::offload;
use super::bounds::MIN_WINDOW;
use super::{Bbr, State};

impl Bbr {
    pub(super) fn bandwidth(&self) -> f64 {
        self.bandwidth.max().min(self.bounds.bandwidth)
    }

    /// Returns the segments in flight at `gain` times the bandwidth-delay product, plus
    /// the offload budget (section 5.6.4.2).
    pub(super) fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.budget(bandwidth * self.min_rtt.min.as_secs_f64() * gain)
    }

    /// Adds the offload budget (`BBRQuantizationBudget`).
    pub(super) fn budget(&self, held: f64) -> f64 {
        let burst = f64::from(self.burst());
        let most = held.max(3.0 * burst).max(MIN_WINDOW).ceil();
        most + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    /// Returns the draft's quantum (section 5.6.3), as in Linux.
    pub(super) fn burst(&self) -> u32 {
        offload(self.pacing)
    }
}
