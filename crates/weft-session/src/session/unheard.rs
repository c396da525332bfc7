//! Sending while checks are answered but feedback no longer comes.
//!
//! Peers with libnice (Janus) send on the nominated pair and stay on it when it dies, so
//! they cannot report what they receive on other pairs. The answers to checks show that
//! those pairs carry packets, so a little is still sent even if the controllers without
//! feedback do not allow it; when feedback returns, the controllers start again.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::Session;
use crate::config::Level;
use crate::path::Path;

/// Time without feedback after which it counts as gone; it is longer than a change of
/// paths. Chosen by us: less than the time after which libwebrtc's controller reduces its
/// rate (3 s).
const GONE_AFTER: Duration = Duration::from_secs(2);
/// Lowest target rate then: a small picture. Chosen by us: half of the start rate of an
/// unknown path.
const RATE: Rate = Rate::from_kbps(300);
/// Time within which the next picture must leave.
const PICTURE: Duration = Duration::from_millis(50);

impl Session {
    /// Returns whether paths answer checks, but no feedback has come on any for two
    /// seconds.
    #[must_use]
    pub fn is_unheard(&self, now: Instant) -> bool {
        if self.level == Level::Single {
            return false;
        }
        let is_old = |at: Instant| now.saturating_since(at) >= GONE_AFTER;
        let waits = |p: &Path| p.is_usable() && p.history.unheard_since().is_some_and(is_old);
        // The path on which feedback last came may be gone.
        self.paths.heard_at().is_some_and(is_old) && self.paths.values().any(waits)
    }

    /// Returns the lowest target rate, if no feedback comes.
    pub(super) fn unheard_rate(&self, now: Instant) -> Option<Rate> {
        self.is_unheard(now).then_some(RATE)
    }

    /// Returns the lowest budget of the next picture, if no feedback comes.
    pub(super) fn unheard_budget(&self, now: Instant) -> Option<Bytes> {
        Some(self.unheard_rate(now)? * PICTURE)
    }

    /// Resets controllers and health because feedback is back: their state from its
    /// absence says nothing about the paths.
    pub(super) fn end_unheard(&mut self, now: Instant) {
        for path in self.paths.values_mut().filter(|p| p.is_usable()) {
            path.controller.on_path_restored(now);
            path.health.forget();
        }
        self.rate.moved = true;
    }
}
