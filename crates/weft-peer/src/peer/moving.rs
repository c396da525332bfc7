//! Attempts to move a peer that stays with a dead path.
//!
//! Peers with libnice (Janus, GStreamer) send on the pair nominated first until
//! another pair of a higher priority is nominated. When that pair dies, they still
//! answer checks on the others, but their feedback is lost.

use weft_units::{Duration, Instant};

/// From one attempt to the next. Chosen by us: a check, a nomination and the first
/// feedback take less than a second each.
const PAUSE: Duration = Duration::from_secs(3);
/// Attempts in the life of a peer: each costs it a remote candidate, of which libnice
/// keeps 25 (agent/agent.h, `NICE_AGENT_MAX_REMOTE_CANDIDATES`).
const MOST: u8 = 16;

/// The attempts so far.
#[derive(Default)]
pub(super) struct Moving {
    count: u8,
    next: Instant,
}

impl Moving {
    /// Whether another attempt may begin.
    pub fn is_due(&self, now: Instant) -> bool {
        self.count < MOST && now >= self.next
    }

    /// Begins an attempt.
    pub fn begin(&mut self, now: Instant) {
        self.count += 1;
        self.next = now + PAUSE;
    }
}
