//! Attempts to move a peer that keeps sending on a failed path.
//!
//! Peers with libnice (Janus, GStreamer) send on the pair nominated first until another
//! pair of a higher priority is nominated. When that pair fails, they still answer checks
//! on the others, but their feedback is lost.

use weft_units::{Duration, Instant};

/// Interval between attempts. Chosen by us: a check, a nomination and the first feedback
/// take less than a second each.
const PAUSE: Duration = Duration::from_secs(3);
/// Maximum number of attempts in the life of a peer. Each costs the peer a remote candidate, of
/// which libnice keeps 25 (agent/agent.h, `NICE_AGENT_MAX_REMOTE_CANDIDATES`).
const MOST: u8 = 16;

/// Attempts so far.
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
