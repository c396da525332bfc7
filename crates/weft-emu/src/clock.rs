use rustix::time::{ClockId, Timespec, clock_gettime};
use weft_units::{Duration, Instant};

const NANOS: u64 = 1_000_000_000;

/// The kernel's monotonic clock, counted from the run's epoch.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// Time on the monotonic clock.
    epoch: u64,
}

impl Clock {
    /// Starts a clock whose epoch is now.
    pub fn start() -> Clock {
        Clock {
            epoch: nanos(clock_gettime(ClockId::Monotonic)),
        }
    }

    pub fn now(self) -> Instant {
        let now = nanos(clock_gettime(ClockId::Monotonic));
        Instant::from_nanos(now.saturating_sub(self.epoch))
    }

    /// Converts `at` from another clock; returns at least the epoch.
    pub fn convert(self, other: Clock, at: Instant) -> Instant {
        let nanos = other.epoch.saturating_add(at.as_nanos());
        Instant::from_nanos(nanos.saturating_sub(self.epoch))
    }

    /// Returns the time on the monotonic clock, as timers need it.
    pub fn timespec(self, at: Instant) -> Timespec {
        let nanos = self.epoch.saturating_add(at.as_nanos());
        Timespec {
            tv_sec: (nanos / NANOS) as i64,
            tv_nsec: (nanos % NANOS) as i64,
        }
    }
}

/// Returns the processor time that the calling thread has used.
pub(crate) fn processor_time() -> Duration {
    Duration::from_nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * NANOS + time.tv_nsec as u64
}
