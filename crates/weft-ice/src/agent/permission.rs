//! Permission to send a check.

use super::Agent;
use super::pair::Pair;
use crate::types::{Checks, PathState};
use weft_units::Instant;

/// Checks that one of the peer's checks allows on a pair that has not answered
/// yet, for lost checks and answers. Chosen by us: three losses in a row.
const PER_REQUEST: u8 = 4;

impl Agent {
    /// Whether a pair is checked when it is due.
    pub(super) fn is_scheduled(&self, pair: &Pair) -> bool {
        let is_proved = pair.path.state != PathState::Probing;
        is_proved || pair.owed > 0 || self.pacing.checks == Checks::All
    }

    /// Allows checks after the peer has checked this pair with our password.
    pub(super) fn owe_checks(&mut self, index: usize) {
        self.pairs[index].owed = PER_REQUEST;
    }

    /// Whether a check may be sent on this pair; it uses the budget if the pair
    /// never answered.
    pub(super) fn may_check(&mut self, now: Instant, index: usize) -> bool {
        let pair = &mut self.pairs[index];
        if pair.path.state != PathState::Probing {
            return true;
        }
        pair.owed = pair.owed.saturating_sub(1);
        self.pacing.probes.take(now)
    }
}
