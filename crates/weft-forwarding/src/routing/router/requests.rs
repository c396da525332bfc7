use weft_units::{Duration, Instant};

/// Bound on a subscriber's own keyframe requests: each costs every player of the track a
/// large picture.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// Time when the allowance of the forwarded requests is restored.
    due: Instant,
}

/// Number of requests that one subscriber may make at once, and the time between later
/// ones. Chosen by us: a bad link loses a keyframe or two in a row, and receivers repeat
/// unanswered requests.
const REQUESTS: u64 = 4;
const REQUEST_EVERY: Duration = Duration::from_secs(2);

impl Requests {
    /// Whether this request is forwarded (the generic cell rate algorithm, ITU-T I.371).
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        let due = self.due.max(now);
        let admits = due <= now + REQUEST_EVERY * (REQUESTS - 1);
        if admits {
            self.due = due + REQUEST_EVERY;
        }
        admits
    }
}
