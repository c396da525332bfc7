use weft_units::{Duration, Instant};

/// What a participant may tell a room at once, by whatever connection, and then
/// five times a second: everybody there hears it, and who reads slowly is cut
/// off. Chosen by us: a sender tells of its links once a second, and people
/// press buttons.
pub(super) const TOLD: u64 = 10;
/// How many may come of one address at once, and then five a second: everybody
/// in their rooms hears of each. Chosen by us: an office that goes to a meeting.
pub(super) const COMING: u64 = 100;
const EVERY: Duration = Duration::from_millis(200);

/// How much somebody has told lately (the generic cell rate algorithm, ITU-T
/// I.371).
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    /// When what was told would have been, at the rate.
    due: Instant,
}

impl Pace {
    /// Whether one more is passed on, of so many at once.
    pub(super) fn admits(&mut self, now: Instant, at_once: u64) -> bool {
        let fits = self.fits(now, at_once, 1);
        if fits {
            self.tell(now, 1);
        }
        fits
    }

    /// Whether there is room for one more of somebody who may tell so many times
    /// as much as others.
    pub(super) fn fits(&self, now: Instant, at_once: u64, times: u64) -> bool {
        self.due.max(now) <= now + EVERY / times * (at_once * times - 1)
    }

    /// One more was told.
    pub(super) fn tell(&mut self, now: Instant, times: u64) {
        self.due = self.due.max(now) + EVERY / times;
    }

    /// Whether it is as if nothing had been told.
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
