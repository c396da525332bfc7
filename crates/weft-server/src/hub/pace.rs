use weft_units::{Duration, Instant};

/// Rate limit: a burst, then one per interval.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    at_once: u64,
    every: Duration,
}

const fn allow(at_once: u64, per_second: u64) -> Allowance {
    let every = Duration::from_micros(1_000_000 / per_second);
    Allowance { at_once, every }
}

/// Changes that a participant announces to a room, over any connection: every participant
/// receives them, and slow readers are disconnected. Chosen by us: a sender reports its
/// links once a second, and people press buttons.
pub(super) const TOLD: Allowance = allow(10, 5);
/// Messages and reactions of a participant. Chosen by us: a conversation with
/// bursts of short lines.
pub(super) const SAID: Allowance = allow(10, 1);
/// Messages and reactions of all participants in a room: every page reads all
/// of them. Chosen by us: more than people can read.
pub(super) const SAID_IN_ROOM: Allowance = allow(60, 20);
/// Newcomers from one address: everybody in their rooms is informed of each. Chosen by
/// us: an office that joins a meeting.
pub(super) const COMING: Allowance = allow(100, 5);
/// Media connections that a participant requests: each costs time of the media
/// thread, even if it ends at once. Chosen by us: a full room, each requested
/// twice.
pub(super) const OPENED: Allowance = allow(200, 5);
/// Media connections requested from one address. Chosen by us: an office of
/// thirty in a room of thirty.
pub(super) const OPENED_FROM: Allowance = allow(1000, 50);
/// Candidates and answers for one media connection. Chosen by us: a browser
/// with many interfaces sends two dozen.
pub(super) const PATCHED: Allowance = allow(64, 5);

/// Views of one reception. Chosen by us: the page sends one each 100 ms while a window
/// is resized.
pub(super) const VIEWED: Allowance = allow(40, 10);

/// Recent use of an allowance (the generic cell rate algorithm, ITU-T I.371).
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    /// Time at which everything counted so far conforms to the rate.
    due: Instant,
}

impl Pace {
    /// Counts one more if it is allowed; returns whether it is.
    pub(super) fn admits(&mut self, now: Instant, allowed: Allowance) -> bool {
        let fits = self.fits(now, allowed, 1);
        if fits {
            self.count(now, allowed, 1);
        }
        fits
    }

    /// Whether one more is allowed, for a network with this multiple of the
    /// usual allowance.
    pub(super) fn fits(&self, now: Instant, allowed: Allowance, times: u64) -> bool {
        let Allowance { at_once, every } = allowed;
        self.due.max(now) <= now + every / times * (at_once * times - 1)
    }

    /// Time until one more is allowed; `None` if it is allowed now.
    pub(super) fn wait(&self, now: Instant, allowed: Allowance) -> Option<Duration> {
        let latest = now + allowed.every * (allowed.at_once - 1);
        let wait = self.due.max(now).saturating_since(latest);
        (wait > Duration::ZERO).then_some(wait)
    }

    /// Counts one more.
    pub(super) fn count(&mut self, now: Instant, allowed: Allowance, times: u64) {
        self.due = self.due.max(now) + allowed.every / times;
    }

    /// Whether no recent use is left.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.due <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_five_a_second() {
        let mut pace = Pace::default();
        let begin = Instant::ZERO + Duration::from_secs(9);
        let at_once = (0..100).filter(|_| pace.admits(begin, TOLD));
        assert_eq!(at_once.count(), 10);
        let later = (1..=1000).filter(|ms| pace.admits(begin + Duration::from_millis(*ms), TOLD));
        assert_eq!(later.count(), 5);
        assert!(!pace.is_over(begin + Duration::from_secs(1)));
        assert!(pace.is_over(begin + Duration::from_secs(4)));
    }
}
