//! Event stream of the room.

use std::time::{Duration, Instant};

use crate::signalling::SILENCE;

/// Minimum time between two moves. Chosen by us: a move takes this long, and a draining
/// server asks again after ten seconds.
const BETWEEN_MOVES: Duration = Duration::from_secs(5);

/// Time after which an event stream that breaks is opened again without a pause, perhaps
/// at another server. Chosen by us: after a shorter one, the next request waits for
/// `RETRY`, so a server that ends each one at once is not asked without pause.
const LASTED: Duration = Duration::from_secs(5);

/// Present event stream.
pub(super) struct Listening {
    pub number: u32,
    /// Time of its beginning.
    pub began: Instant,
    /// Time of its last event.
    pub heard: Instant,
    /// Time of the next reconnect.
    pub again: Option<Instant>,
    /// Time at which we last asked another server for admission.
    pub moved: Option<Instant>,
}

impl Default for Listening {
    fn default() -> Listening {
        Listening {
            number: 0,
            began: Instant::now(),
            heard: Instant::now(),
            again: None,
            moved: None,
        }
    }
}

impl Listening {
    /// Whether another server may be asked for admission. Servers that redirect to each
    /// other must not keep us busy, or make us flood others.
    pub fn may_move(&self, now: Instant) -> bool {
        let long_ago = |at| now.saturating_duration_since(at) >= BETWEEN_MOVES;
        self.moved.is_none_or(long_ago)
    }

    pub fn has_lasted(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.began) >= LASTED
    }

    pub fn is_silent(&self, now: Instant) -> bool {
        self.again.is_none() && now.saturating_duration_since(self.heard) > SILENCE
    }
}
