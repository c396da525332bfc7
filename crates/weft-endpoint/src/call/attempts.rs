//! Rate limit of attempts to play participants.

use std::time::{Duration, Instant};

/// Attempts in a burst; afterwards one per [`ATTEMPT`]. Covers a full room at
/// the beginning, and later arrivals. Chosen by us.
const ATTEMPTS: u32 = 256;
/// Interval that allows one more attempt; see [`ATTEMPTS`].
const ATTEMPT: Duration = Duration::from_millis(100);

/// Token bucket of attempts.
pub(super) struct Attempts {
    at: Instant,
    left: u32,
    refused: bool,
}

impl Attempts {
    pub fn new(now: Instant) -> Attempts {
        Attempts {
            at: now,
            left: ATTEMPTS,
            refused: false,
        }
    }

    /// Takes an attempt; returns whether one was available.
    pub fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.at);
        let earned = u32::try_from(passed.as_millis() / ATTEMPT.as_millis()).unwrap_or(ATTEMPTS);
        if earned > 0 {
            self.at = now;
            self.left = self.left.saturating_add(earned).min(ATTEMPTS);
        }
        let taken = self.left > 0;
        self.left -= u32::from(taken);
        taken
    }

    /// Records that a participant was skipped because the call is full; returns
    /// whether it is the first time.
    pub fn first_refused(&mut self) -> bool {
        !std::mem::replace(&mut self.refused, true)
    }
}
