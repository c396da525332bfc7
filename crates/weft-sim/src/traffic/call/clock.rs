//! Clock of one end, which may be faster or slower than the run's.

use weft_units::{Duration, Instant};

/// Clock that equals the run's when the call starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clock {
    begun_at: Instant,
    /// Its nanoseconds per million nanoseconds of the run.
    rate: u64,
}

const MILLION: u64 = 1_000_000;

impl Clock {
    /// Creates a clock that is fast by `ppm` millionths.
    pub fn new(begun_at: Instant, ppm: i32) -> Clock {
        Clock {
            begun_at,
            rate: MILLION.saturating_add_signed(i64::from(ppm)),
        }
    }

    /// Returns its time at this time of the run.
    pub fn at(self, now: Instant) -> Instant {
        let passed = now.saturating_since(self.begun_at);
        self.begun_at + scaled(passed, self.rate, MILLION)
    }

    /// Returns the time of the run at which it first shows this time or a later one.
    pub fn when(self, shown: Instant) -> Instant {
        let passed = shown.saturating_since(self.begun_at);
        self.begun_at + scaled(passed, MILLION, self.rate)
    }
}

/// Returns the span times `part` over `whole`, rounded up, so that a conversion and its
/// inverse give no earlier time.
fn scaled(span: Duration, part: u64, whole: u64) -> Duration {
    let nanos = u128::from(span.as_nanos()) * u128::from(part);
    Duration::from_nanos(nanos.div_ceil(u128::from(whole)) as u64)
}

#[cfg(test)]
mod tests;
