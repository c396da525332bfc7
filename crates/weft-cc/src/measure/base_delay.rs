use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// Difference of one-way delays between consecutive packets or groups from which a clock
/// has jumped: longer than any queue, chosen by us.
pub(crate) const CLOCK_JUMP_MS: f64 = 3000.0;

/// Memory of base delays, "tens of minutes" in RFC 6817 section 3.4.2: long enough to see
/// an empty queue, short enough for clocks that drift apart.
pub(crate) const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Number of steps in which the window of the minimum moves, like the minute slots of RFC
/// 6817 section 3.4.2 (`BASE_HISTORY`).
const SLOTS: usize = 10;

/// Queueing delay: the delay of a packet minus the smallest delay observed. The two
/// clocks may have any offset.
#[derive(Debug)]
pub(crate) struct BaseDelay {
    slot: Duration,
    /// Smallest delay of each slot in ms, the newest last.
    least_ms: VecDeque<f64>,
    begun: Option<Instant>,
    last_ms: Option<f64>,
}

impl BaseDelay {
    /// Creates a measurement with the minimum over `window`.
    pub(crate) fn new(window: Duration) -> BaseDelay {
        BaseDelay {
            slot: window / SLOTS as u64,
            least_ms: VecDeque::new(),
            begun: None,
            last_ms: None,
        }
    }

    /// Returns the queueing delay in ms of a packet with these sending and arrival times,
    /// from two clocks.
    pub(crate) fn queue_ms(&mut self, now: Instant, sent: Instant, arrival: Instant) -> f64 {
        let delay_ms = arrival.signed_nanos_since(sent) as f64 / 1e6;
        let jumped = self
            .last_ms
            .is_some_and(|last| (delay_ms - last).abs() > CLOCK_JUMP_MS);
        self.last_ms = Some(delay_ms);
        if jumped {
            self.least_ms.clear();
            self.begun = None;
        }
        let begun = *self.begun.get_or_insert(now);
        if now.saturating_since(begun) >= self.slot {
            self.begun = Some(now);
            self.least_ms.push_back(delay_ms);
            if self.least_ms.len() > SLOTS {
                self.least_ms.pop_front();
            }
        }
        match self.least_ms.back_mut() {
            Some(least) => *least = least.min(delay_ms),
            None => self.least_ms.push_back(delay_ms),
        }
        let least = self.least_ms.iter().copied().fold(f64::INFINITY, f64::min);
        (delay_ms - least).max(0.0)
    }
}
