//! The clock of one end, which may go faster or slower than the run's.

use weft_units::{Duration, Instant};

/// Both show the same time when the call begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clock {
    begun_at: Instant,
    /// Its nanoseconds in so many of the run's, a million.
    rate: u64,
}

const MILLION: u64 = 1_000_000;

impl Clock {
    /// So many millionths too fast.
    pub fn new(begun_at: Instant, ppm: i32) -> Clock {
        Clock {
            begun_at,
            rate: MILLION.saturating_add_signed(i64::from(ppm)),
        }
    }

    /// What it shows at this time of the run.
    pub fn at(self, now: Instant) -> Instant {
        let passed = now.saturating_since(self.begun_at);
        self.begun_at + scaled(passed, self.rate, MILLION)
    }

    /// When in the run it shows this time, or first shows a later one.
    pub fn when(self, shown: Instant) -> Instant {
        let passed = shown.saturating_since(self.begun_at);
        self.begun_at + scaled(passed, MILLION, self.rate)
    }
}

/// The span times `part` over `whole`, rounded up: back and forth it gives no
/// earlier time.
fn scaled(span: Duration, part: u64, whole: u64) -> Duration {
    let nanos = u128::from(span.as_nanos()) * u128::from(part);
    Duration::from_nanos(nanos.div_ceil(u128::from(whole)) as u64)
}

#[cfg(test)]
mod tests;
