//! Pace of the attempts to play somebody.

use std::time::{Duration, Instant};

/// Attempts to play somebody that may follow each other at once, and then each
/// [`ATTEMPT`]: a full room at the beginning, and later those who come. Chosen by us.
const ATTEMPTS: u32 = 256;
/// See [`ATTEMPTS`].
const ATTEMPT: Duration = Duration::from_millis(100);

/// Attempts that may be made now.
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

    /// Makes one, if it may be.
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

    /// Notes that somebody is not played for want of room; whether for the first time.
    pub fn first_refused(&mut self) -> bool {
        !std::mem::replace(&mut self.refused, true)
    }
}
