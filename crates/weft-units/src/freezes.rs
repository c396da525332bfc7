use std::collections::VecDeque;

use crate::{Duration, Instant};

/// Freezes of a displayed video, as defined by the W3C (Identifiers for
/// WebRTC's Statistics API, `freezeCount` and `totalFreezesDuration`): the time
/// between two pictures is a freeze if it is at least `max(3 d, d + 150 ms)`,
/// where d is the mean of the last 30 such times.
///
/// Defined in this crate because displays of real and simulated calls must
/// count alike, and they have no other crate in common.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Freezes {
    last: Option<Instant>,
    /// Latest intervals, at most [`Freezes::WINDOW`].
    intervals: VecDeque<Duration>,
    count: u32,
    total: Duration,
    pictures: u64,
}

impl Freezes {
    /// Number of intervals in the mean.
    const WINDOW: usize = 30;
    const MARGIN: Duration = Duration::from_millis(150);

    /// Creates a counter before the first picture.
    #[must_use]
    pub fn new() -> Freezes {
        Freezes::default()
    }

    /// Records a displayed picture. Times must not decrease.
    pub fn on_picture(&mut self, now: Instant) {
        self.pictures += 1;
        let Some(last) = self.last.replace(now) else {
            return;
        };
        let interval = now.saturating_since(last);
        if self.is_freeze(interval) {
            self.count += 1;
            self.total += interval;
        }
        if self.intervals.len() == Self::WINDOW {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
    }

    /// Whether the displayed picture is old enough to count as a freeze: for
    /// live displays.
    #[must_use]
    pub fn is_frozen(&self, now: Instant) -> bool {
        self.last
            .is_some_and(|last| self.is_freeze(now.saturating_since(last)))
    }

    /// Number of freezes that have ended.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Total duration of these freezes.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.total
    }

    /// Number of displayed pictures.
    #[must_use]
    pub fn pictures(&self) -> u64 {
        self.pictures
    }

    fn is_freeze(&self, interval: Duration) -> bool {
        let nanos: u64 = self.intervals.iter().map(|i| i.as_nanos()).sum();
        let Some(mean) = nanos.checked_div(self.intervals.len() as u64) else {
            return false;
        };
        let mean = Duration::from_nanos(mean);
        interval >= (mean * 3).max(mean + Self::MARGIN)
    }
}

#[cfg(test)]
mod tests;
