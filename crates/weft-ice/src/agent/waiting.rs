//! Checks of the peer that are answered later: those that arrive before its description,
//! and, at first, those over links that cost much more than others.

use crate::counters::DropReason;
use crate::stun;
use weft_units::{Duration, FiveTuple, Instant};

/// Maximum number of checks that wait.
const MAX_CHECKS: usize = 16;

/// Time from the peer's first check for which checks over much dearer links wait. Chromium sends
/// a check every 48 ms (p2p/base/p2p_constants.h, WEAK_PING_INTERVAL): four of them, which is
/// one on each pair of two networks here and two there.
const FREE_FIRST: Duration = Duration::from_millis(200);

#[derive(Default)]
pub(super) struct Waiting {
    /// Latest check of each pair of addresses. Its late answer saves the peer a repetition.
    checks: Vec<(FiveTuple, stun::Request)>,
    /// End of [`FREE_FIRST`]; `None` before the peer's first check.
    until: Option<Instant>,
}

impl Waiting {
    /// Keeps a check.
    ///
    /// # Errors
    /// If too many wait.
    pub fn keep(&mut self, tuple: FiveTuple, request: stun::Request) -> Result<(), DropReason> {
        if let Some(kept) = self.checks.iter_mut().find(|(kept, _)| *kept == tuple) {
            kept.1 = request;
        } else if self.checks.len() < MAX_CHECKS {
            self.checks.push((tuple, request));
        } else {
            return Err(DropReason::TooManyPairs);
        }
        Ok(())
    }

    pub fn take(&mut self) -> Vec<(FiveTuple, stun::Request)> {
        std::mem::take(&mut self.checks)
    }

    pub fn retain(&mut self, stays: impl Fn(FiveTuple) -> bool) {
        self.checks.retain(|(tuple, _)| stays(*tuple));
    }

    /// Whether checks over much dearer links wait at present; the first call starts the period.
    pub fn is_first_moment(&mut self, now: Instant) -> bool {
        now < *self.until.get_or_insert(now + FREE_FIRST)
    }

    /// Time at which the waiting checks are answered, if there are any.
    pub fn due(&self) -> Option<Instant> {
        self.until.filter(|_| !self.checks.is_empty())
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.checks.len()
    }
}
