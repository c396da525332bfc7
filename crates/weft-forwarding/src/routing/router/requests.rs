use weft_units::{Duration, Instant};

/// A subscriber's own requests for keyframes: each costs everybody who plays the
/// track a big picture, so that one who asks all the time may not have all.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// When those that were passed on would be used up.
    due: Instant,
}

/// Requests that one subscriber may make at once, and the time between later
/// ones. Chosen by us: a bad link loses a keyframe or two in a row, and
/// receivers repeat what was not answered.
const REQUESTS: u64 = 4;
const REQUEST_EVERY: Duration = Duration::from_secs(2);

impl Requests {
    /// Whether this one is passed on (the generic cell rate algorithm, ITU-T
    /// I.371).
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        let due = self.due.max(now);
        let admits = due <= now + REQUEST_EVERY * (REQUESTS - 1);
        if admits {
            self.due = due + REQUEST_EVERY;
        }
        admits
    }
}
