//! Target rate of all streams together, and its announcement to the application.

use weft_units::{Instant, Rate};

use super::Session;
use crate::event::Event;
use crate::schedule::PathList;

impl Session {
    /// Returns the target rate of all streams together: what the paths carry without the
    /// share of repair packets, limited by the peer and the application.
    #[must_use]
    pub fn target_rate(&self) -> Rate {
        let views = self.path_views();
        let paths = if views.is_empty() {
            Rate::ZERO
        } else {
            self.scheduling.scheduler.rate(&views)
        };
        let paths = self.safe_rate().map_or(paths, |safe| paths.min(safe));
        let paths = self.unanswered_rate().map_or(paths, |most| paths.min(most));
        let least = self.unheard_rate(self.now).unwrap_or(Rate::ZERO);
        let paths = paths.max(least);
        let media = paths.as_bps() as f64 * self.protecting.repair_share.left_for_media();
        let media = Rate::from_bps(media as u64).min(self.wanted_rate());
        self.limit_for_media().map_or(media, |most| media.min(most))
    }

    /// Announces a target rate that changed by a hundredth or more to the application.
    pub(super) fn announce_rate(&mut self, now: Instant) {
        self.rate.moved = false;
        let live = match self.scheduling.policies.are_none() {
            true => PathList::new(),
            false => self.views(&self.live_paths()),
        };
        self.scheduling.policies.settle(&live, self.wanted_rate());
        let rate = self.target_rate();
        let moved = rate.as_bps().abs_diff(self.rate.announced.as_bps());
        if moved * 100 <= self.rate.announced.as_bps() && self.rate.announced != Rate::ZERO {
            return;
        }
        if rate == self.rate.announced {
            return;
        }
        self.rate.announced = rate;
        for path in self.paths.values_mut() {
            path.controller.set_demand(now, self.config.max_rate);
        }
        self.event(Event::TargetRateChanged { rate });
    }
}
