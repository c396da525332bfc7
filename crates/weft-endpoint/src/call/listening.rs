//! The event stream of the room.

use std::time::Instant;

use crate::signalling::SILENCE;

/// Present event stream.
pub(super) struct Listening {
    pub number: u32,
    /// Time of its last event.
    pub heard: Instant,
    /// Time of the next reconnect.
    pub again: Option<Instant>,
}

impl Default for Listening {
    fn default() -> Listening {
        Listening {
            number: 0,
            heard: Instant::now(),
            again: None,
        }
    }
}

impl Listening {
    pub fn is_silent(&self, now: Instant) -> bool {
        self.again.is_none() && now.saturating_duration_since(self.heard) > SILENCE
    }
}
