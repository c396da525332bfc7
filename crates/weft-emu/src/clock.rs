use rustix::time::{ClockId, Timespec, clock_gettime};
use weft_units::{Duration, Instant};

const NANOS: u64 = 1_000_000_000;

/// The kernel's monotonic clock, counted from the run's epoch.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    /// On the monotonic clock.
    epoch: u64,
}

impl Clock {
    /// A clock whose epoch is now.
    pub fn start() -> Clock {
        Clock {
            epoch: nanos(clock_gettime(ClockId::Monotonic)),
        }
    }

    pub fn now(self) -> Instant {
        let now = nanos(clock_gettime(ClockId::Monotonic));
        Instant::from_nanos(now.saturating_sub(self.epoch))
    }

    /// On this clock what `at` is on another; at the earliest the epoch.
    pub fn convert(self, other: Clock, at: Instant) -> Instant {
        let nanos = other.epoch.saturating_add(at.as_nanos());
        Instant::from_nanos(nanos.saturating_sub(self.epoch))
    }

    /// The point on the monotonic clock, as timers want it.
    pub fn timespec(self, at: Instant) -> Timespec {
        let nanos = self.epoch.saturating_add(at.as_nanos());
        Timespec {
            tv_sec: (nanos / NANOS) as i64,
            tv_nsec: (nanos % NANOS) as i64,
        }
    }
}

/// Processor time that the calling thread has used.
pub(crate) fn processor_time() -> Duration {
    Duration::from_nanos(nanos(clock_gettime(ClockId::ThreadCPUTime)))
}

fn nanos(time: Timespec) -> u64 {
    time.tv_sec as u64 * NANOS + time.tv_nsec as u64
}
