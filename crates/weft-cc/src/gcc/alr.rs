use weft_units::{Bytes, Duration, Instant, Rate};

/// Share of the target above which the application uses the path: `bandwidth_usage_ratio`
/// (libwebrtc `alr_detector.h`).
const USAGE: f64 = 0.65;
/// `start_budget_level_ratio` and `stop_budget_level_ratio` (ibid.).
const START_LEVEL: f64 = 0.80;
const STOP_LEVEL: f64 = 0.50;
/// Time that the budget covers: `kWindow` (libwebrtc `interval_budget.cc`).
const WINDOW_SECONDS: f64 = 0.5;

/// Detects whether the application, and not the path, limits the sending rate. Media then
/// cannot show the path's capacity.
#[derive(Debug)]
pub(super) struct Alr {
    /// Bytes per second from which the path counts as used.
    rate: f64,
    /// Unused bytes, limited to one window in both directions.
    budget: f64,
    updated: Instant,
    since: Option<Instant>,
    ended: Option<Instant>,
}

impl Alr {
    pub(super) fn new(now: Instant, target: Rate) -> Alr {
        Alr {
            rate: usage(target),
            budget: 0.0,
            updated: now,
            since: None,
            ended: None,
        }
    }

    pub(super) fn set_target(&mut self, target: Rate) {
        self.rate = usage(target);
        let bound = self.rate * WINDOW_SECONDS;
        self.budget = self.budget.clamp(-bound, bound);
    }

    /// Counts sent bytes; zero only advances the time.
    pub(super) fn on_sent(&mut self, now: Instant, size: Bytes) {
        let elapsed = now.saturating_since(self.updated).as_secs_f64();
        self.updated = self.updated.max(now);
        let bound = self.rate * WINDOW_SECONDS;
        self.budget = (self.budget - size.0 as f64 + elapsed * self.rate).clamp(-bound, bound);
        if self.budget > START_LEVEL * bound && self.since.is_none() {
            self.since = Some(now);
        } else if self.budget < STOP_LEVEL * bound && self.since.is_some() {
            self.since = None;
            self.ended = Some(now);
        }
    }

    /// Returns the time since which the application limits, if it does.
    pub(super) fn since(&self) -> Option<Instant> {
        self.since
    }

    /// Returns whether the application limits, or did so within `grace`.
    pub(super) fn now_or_within(&self, now: Instant, grace: Duration) -> bool {
        self.since.is_some()
            || self
                .ended
                .is_some_and(|at| now.saturating_since(at) < grace)
    }
}

fn usage(target: Rate) -> f64 {
    (target.as_bps() as f64 * USAGE / 8.0).max(1.0)
}

#[cfg(test)]
mod tests;
