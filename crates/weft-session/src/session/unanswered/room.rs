use weft_units::{Bytes, Duration, Instant, Rate};

/// Pictures are made at this rate. Chosen by us: the smallest ones at their
/// coarsest, two thirds of what the floor sends.
pub(super) const RATE: Rate = Rate::from_kbps(100);
/// Pictures are sent for so long, and sound until the peer's consent has ended. What RATE
/// makes of it, a link of 1 Mbit/s brings in half a second.
const LASTS: Duration = Duration::from_secs(5);
/// Bytes at the beginning: a keyframe of the smallest size.
const BURST: Bytes = Bytes(4000);

/// Bytes that pictures may take of paths that do not answer.
#[derive(Debug)]
pub(in crate::session) struct Unanswered {
    /// When pictures end, until they have.
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

    /// Takes room for a picture; false if there is none.
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
