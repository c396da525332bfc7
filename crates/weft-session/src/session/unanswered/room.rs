use weft_units::{Bytes, Duration, Instant, Rate};

/// Rate of pictures. Chosen by us: the smallest pictures at their coarsest, two thirds of
/// what the floor sends.
pub(super) const RATE: Rate = Rate::from_kbps(100);
/// Time for which pictures are sent; sound is sent until the peer's consent has ended. A
/// link of 1 Mbit/s delivers this much at [`RATE`] in half a second.
const LASTS: Duration = Duration::from_secs(5);
/// Bytes available at the start: a keyframe of the smallest size.
const BURST: Bytes = Bytes(4000);

/// Bytes that pictures may send on paths that do not answer.
#[derive(Debug)]
pub(in crate::session) struct Unanswered {
    /// End of the pictures; `None` once they have ended.
    pub(super) until: Option<Instant>,
    pub(super) left: Bytes,
    earned_at: Instant,
}

impl Unanswered {
    pub(super) fn new(now: Instant) -> Unanswered {
        Unanswered {
            until: Some(now + LASTS),
            left: BURST,
            earned_at: now,
        }
    }

    /// Reserves room for a picture; returns false if there is none.
    pub(super) fn take(&mut self, now: Instant, size: Bytes) -> bool {
        let since = now.saturating_since(self.earned_at);
        self.left = (self.left + RATE * since).min(BURST);
        self.earned_at = now;
        let fits = self.until.is_some() && size <= self.left;
        if fits {
            self.left -= size;
        }
        fits
    }
}
