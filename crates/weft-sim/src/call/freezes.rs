use std::collections::VecDeque;

use weft_units::{Duration, Instant};

/// Freezes of a displayed video as the W3C counts them (Identifiers for
/// WebRTC's Statistics API, `freezeCount` and `totalFreezesDuration`): the
/// time between two pictures is a freeze when it is at least
/// `max(3 d, d + 150 ms)`, d being the mean of the last 30 such times.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Freezes {
    /// Freezes that ended.
    pub count: u32,
    /// Their durations together.
    pub total: Duration,
    last: Option<Instant>,
    intervals: VecDeque<Duration>,
}

const WINDOW: usize = 30;
const MARGIN: Duration = Duration::from_millis(150);

impl Freezes {
    /// A picture is displayed. Times do not go back.
    pub fn on_picture(&mut self, now: Instant) {
        let Some(last) = self.last.replace(now) else {
            return;
        };
        let interval = now.saturating_since(last);
        let nanos: u64 = self.intervals.iter().map(|i| i.as_nanos()).sum();
        if let Some(mean) = nanos.checked_div(self.intervals.len() as u64) {
            let mean = Duration::from_nanos(mean);
            if interval >= (mean * 3).max(mean + MARGIN) {
                self.count += 1;
                self.total += interval;
            }
        }
        if self.intervals.len() == WINDOW {
            self.intervals.pop_front();
        }
        self.intervals.push_back(interval);
    }
}
