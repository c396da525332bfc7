use weft_units::{Duration, Instant};

/// What a participant may tell a room at once, by whatever connection, and then
/// each time after: everybody there hears it, and who reads slowly is cut off.
/// Chosen by us: a sender tells of its links once a second, and people press
/// buttons.
const AT_ONCE: u64 = 10;
const EVERY: Duration = Duration::from_millis(200);

/// How much somebody has told lately (the generic cell rate algorithm, ITU-T
/// I.371).
#[derive(Debug, Clone, Default)]
pub(super) struct Pace {
    /// When what was told would have been, at the rate.
    due: Instant,
}

impl Pace {
    /// Whether one more is passed on.
    pub(super) fn admits(&mut self, now: Instant) -> bool {
        let due = self.due.max(now);
        let admits = due <= now + EVERY * (AT_ONCE - 1);
        if admits {
            self.due = due + EVERY;
        }
        admits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_five_a_second() {
        let mut pace = Pace::default();
        let begin = Instant::ZERO + Duration::from_secs(9);
        assert_eq!((0..100).filter(|_| pace.admits(begin)).count(), 10);
        let later = (1..=1000).filter(|ms| pace.admits(begin + Duration::from_millis(*ms)));
        assert_eq!(later.count(), 5);
    }
}
