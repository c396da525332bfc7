//! Checks are answered, but no feedback comes any more.
//!
//! Peers with libnice (Janus) send on the nominated pair and stay there when it
//! dies: what they receive on the others they cannot report. The answers to checks
//! show that those carry packets, so a little is still sent, whatever the controllers
//! that hear nothing allow; when feedback is back, they start again.

use weft_units::{Bytes, Duration, Instant, Rate};

use super::Session;
use crate::config::Level;
use crate::path::Path;

/// Feedback is gone for good after this time, which outlasts a change of paths.
/// Chosen by us: before libwebrtc's controller falls for want of it (3 s).
const GONE_AFTER: Duration = Duration::from_secs(2);
/// The least target rate then: a small picture. Chosen by us: half of what a path
/// of which nothing is known begins with.
const RATE: Rate = Rate::from_kbps(300);
/// Within which the next picture is to leave.
const PICTURE: Duration = Duration::from_millis(50);

impl Session {
    /// Whether paths live by their checks, and no feedback has come on any for two seconds.
    #[must_use]
    pub fn is_unheard(&self, now: Instant) -> bool {
        if self.level == Level::Single {
            return false;
        }
        let is_old = |at: Instant| now.saturating_since(at) >= GONE_AFTER;
        let waits = |p: &Path| p.is_usable() && p.history.unheard_since().is_some_and(is_old);
        // The path that it came on may be gone.
        self.paths.heard_at().is_some_and(is_old) && self.paths.values().any(waits)
    }

    /// The least target rate, if no feedback comes.
    pub(super) fn unheard_rate(&self, now: Instant) -> Option<Rate> {
        self.is_unheard(now).then_some(RATE)
    }

    /// The least that the next picture may have, if no feedback comes.
    pub(super) fn unheard_budget(&self, now: Instant) -> Option<Bytes> {
        Some(self.unheard_rate(now)? * PICTURE)
    }

    /// Feedback is back: what controllers made of its absence says nothing of the
    /// paths.
    pub(super) fn end_unheard(&mut self, now: Instant) {
        for path in self.paths.values_mut().filter(|p| p.is_usable()) {
            path.controller.on_path_restored(now);
            path.health.forget();
        }
        self.rate.moved = true;
    }
}
