use std::collections::VecDeque;

use crate::{Duration, Instant};

/// Freezes of a displayed video, as the W3C counts them (Identifiers for
/// WebRTC's Statistics API, `freezeCount` and `totalFreezesDuration`): the
/// time between two pictures is a freeze when it is at least
/// `max(3 d, d + 150 ms)`, d being the mean of the last 30 such times.
///
/// It stands here because displays of real calls and of simulated ones must
/// not differ in it, and share no other crate.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Freezes {
    last: Option<Instant>,
    /// The last intervals, at most [`Freezes::WINDOW`].
    intervals: VecDeque<Duration>,
    count: u32,
    total: Duration,
    pictures: u64,
}

impl Freezes {
    /// Intervals that the mean is taken over.
    const WINDOW: usize = 30;
    const MARGIN: Duration = Duration::from_millis(150);

    /// Nothing displayed yet.
    #[must_use]
    pub fn new() -> Freezes {
        Freezes::default()
    }

    /// A picture is displayed. Times must not go back.
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

    /// Whether the picture on display stands for so long that a freeze will
    /// be counted: for live displays.
    #[must_use]
    pub fn is_frozen(&self, now: Instant) -> bool {
        self.last
            .is_some_and(|last| self.is_freeze(now.saturating_since(last)))
    }

    /// Freezes that ended.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Their durations together.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.total
    }

    /// Pictures displayed.
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
