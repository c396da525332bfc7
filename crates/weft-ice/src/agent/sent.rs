//! Checks of a pair that are in flight or were answered.

use crate::types::IceRole;
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// Maximum number of remembered checks in flight: a second and a half of the
/// fastest schedule.
const MAX_SENT: usize = 64;

/// Time after which a check in flight is forgotten: no answer takes longer. The
/// last retransmission timeout of STUN over UDP is 39.5 s with its defaults
/// (RFC 8489 section 6.2.1); libwebrtc forgets after 10 s
/// (p2p/base/connection.cc, CONNECTION_RESPONSE_TIMEOUT 5 s at minimum).
const FORGET: Duration = Duration::from_secs(10);

/// Checks of a pair.
#[derive(Default)]
pub(super) struct SentChecks {
    checks: VecDeque<Sent>,
    /// Time of the latest answer.
    pub heard_at: Option<Instant>,
    /// Send time of the latest answered check.
    answered: Option<Instant>,
}

/// Check in flight.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    pub transaction: u128,
    pub at: Instant,
    pub role: IceRole,
    pub nomination: Option<u32>,
}

impl SentChecks {
    pub fn push(&mut self, sent: Sent) {
        while self
            .checks
            .front()
            .is_some_and(|s| sent.at.saturating_since(s.at) > FORGET)
        {
            self.checks.pop_front();
        }
        if self.checks.len() == MAX_SENT {
            self.checks.pop_front();
        }
        self.checks.push_back(sent);
    }

    pub fn in_flight(&self, transaction: u128) -> Option<&Sent> {
        self.checks.iter().find(|s| s.transaction == transaction)
    }

    pub fn take(&mut self, transaction: u128) -> Option<Sent> {
        let at = self
            .checks
            .iter()
            .position(|s| s.transaction == transaction);
        at.and_then(|at| self.checks.remove(at))
    }

    /// Records the answer to a check that was sent at this time.
    pub fn on_answer(&mut self, now: Instant, sent_at: Instant) {
        self.heard_at = Some(now);
        self.answered = self.answered.max(Some(sent_at));
    }

    pub fn last(&self) -> Option<Instant> {
        self.checks.back().map(|s| s.at)
    }

    /// Send time of the oldest check after the latest answered one.
    pub fn unanswered_since(&self) -> Option<Instant> {
        let newer = |s: &&Sent| self.answered.is_none_or(|a| s.at > a);
        self.checks.iter().find(newer).map(|s| s.at)
    }

    /// Send time of the first unanswered check, not counting those before
    /// `from`.
    pub fn unanswered_from(&self, from: Instant) -> Option<Instant> {
        self.checks.iter().find(|s| s.at >= from).map(|s| s.at)
    }
}
