use weft_units::{Duration, Instant};

/// Time for which the rate must be sufficient before the first raise. Chosen by us:
/// longer than one cycle of decrease and recovery of GCC on a full link.
const FIRST: Duration = Duration::from_secs(2);
/// Wait after a raise that did not last; it doubles each further time. Chosen by us: a
/// token bucket lets the probes of a small stream pass, so a controller may assume ten
/// times the rate of the link while little is sent.
const AGAIN: Duration = Duration::from_secs(10);
/// Maximum of this wait.
const LONGEST: Duration = Duration::from_secs(80);
/// Time without lowering after which a raise counts as lasting.
const LASTED: Duration = Duration::from_secs(8);

/// Times of the raises to larger pictures, each of which costs a keyframe: after the rate
/// was sufficient for a while, and much later if the last raise was undone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raises {
    /// Time since which the rate is sufficient.
    enough_since: Option<Instant>,
    /// Time of the last raise, unless it was undone.
    last: Option<Instant>,
    /// Wait before the next raise, after one that did not last.
    wait: Option<Duration>,
}

impl Raises {
    /// Records that the rate is sufficient; returns whether it has been for long enough.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let since = *self.enough_since.get_or_insert(now);
        now.saturating_since(since) >= self.wait.unwrap_or(FIRST)
    }

    /// Records that the rate is not sufficient, or not needed.
    pub(crate) fn reset(&mut self) {
        self.enough_since = None;
    }

    /// Records a raise.
    pub(crate) fn raise(&mut self, now: Instant) {
        self.reset();
        self.last = Some(now);
    }

    /// Records that the raise is undone; returns whether it did not last.
    pub(crate) fn lower(&mut self, now: Instant) -> bool {
        self.reset();
        let Some(raised) = self.last.take() else {
            return false;
        };
        let failed = now.saturating_since(raised) < LASTED;
        let longer = self.wait.map_or(AGAIN, |wait| wait * 2);
        self.wait = failed.then_some(longer.min(LONGEST));
        failed
    }

    /// Returns the time of the last raise, unless it was undone.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.last
    }
}
