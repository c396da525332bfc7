use std::time::Instant as StdInstant;
use weft_units::{Duration, Instant};

/// Translation between our time and that of the SCTP library.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    /// Moment on the system clock that corresponds to `at`.
    std: StdInstant,
    at: Instant,
}

impl Clock {
    pub fn new(std: StdInstant, at: Instant) -> Clock {
        Clock { std, at }
    }

    pub fn to_std(self, now: Instant) -> StdInstant {
        self.std + now.saturating_since(self.at).into()
    }

    pub fn instant(self, std: StdInstant) -> Instant {
        self.at + Duration::from(std.saturating_duration_since(self.std))
    }
}
