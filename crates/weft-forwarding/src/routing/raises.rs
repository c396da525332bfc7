use weft_units::{Duration, Instant};

/// Time for which the rate must be enough before the first raise. Chosen by us: longer than one
/// cycle of decrease and recovery of GCC on a filled link.
const FIRST: Duration = Duration::from_secs(2);
/// Wait after a raise that did not last; each further one doubles it. Chosen by us: a
/// token bucket lets the probes of a small stream pass, so a controller may believe in ten
/// times the rate of the link for as long as little is sent.
const AGAIN: Duration = Duration::from_secs(10);
/// Longest such wait.
const LONGEST: Duration = Duration::from_secs(80);
/// A raise lasted if nothing had to be lowered for so long.
const LASTED: Duration = Duration::from_secs(8);

/// Times of the raises to larger pictures, each of which costs a keyframe: after the rate
/// was enough for a while, and much later where the last one had to be taken back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raises {
    /// Time since which the rate is enough.
    enough_since: Option<Instant>,
    /// Time of the last raise, unless it had to be taken back.
    last: Option<Instant>,
    /// Wait before the next raise, after one that did not last.
    wait: Option<Duration>,
}

impl Raises {
    /// Takes in that the rate is enough; returns whether it has been for long enough.
    pub(crate) fn is_due(&mut self, now: Instant) -> bool {
        let since = *self.enough_since.get_or_insert(now);
        now.saturating_since(since) >= self.wait.unwrap_or(FIRST)
    }

    /// Takes in that the rate is not enough, or not needed.
    pub(crate) fn reset(&mut self) {
        self.enough_since = None;
    }

    /// Takes in a raise.
    pub(crate) fn raise(&mut self, now: Instant) {
        self.reset();
        self.last = Some(now);
    }

    /// Takes in that the raise is taken back; returns whether it did not last.
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

    /// Returns the time of the last raise, unless it had to be taken back.
    pub(crate) fn last(&self) -> Option<Instant> {
        self.last
    }
}
