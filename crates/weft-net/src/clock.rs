use std::time::{Instant as StdInstant, SystemTime, UNIX_EPOCH};

use weft_peer::TimeOrigin;
use weft_units::{Duration, Instant};

/// Offset from the NTP era (1900) to the Unix epoch (RFC 5905 figure 4).
const NTP_TO_UNIX_SECONDS: u64 = 2_208_988_800;

/// Clock of the run: monotonic time since its epoch, and the wall clock at the
/// epoch, which is read once.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: StdInstant,
    ntp_at_zero: u64,
}

impl Clock {
    /// Starts a clock whose epoch is now.
    #[must_use]
    pub fn start() -> Clock {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let seconds = unix.as_secs().wrapping_add(NTP_TO_UNIX_SECONDS);
        let fraction = (u64::from(unix.subsec_nanos()) << 32) / 1_000_000_000;
        Clock {
            epoch: StdInstant::now(),
            ntp_at_zero: (seconds << 32) | fraction,
        }
    }

    /// Time since the epoch.
    #[must_use]
    pub fn now(&self) -> Instant {
        let nanos = self.epoch.elapsed().as_nanos();
        Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Epoch on other clocks.
    #[must_use]
    pub fn origin(&self) -> TimeOrigin {
        TimeOrigin {
            std: self.epoch,
            ntp: self.ntp_at_zero,
        }
    }

    /// Wall-clock time at `at`, since the Unix epoch.
    #[must_use]
    pub fn unix(&self, at: Instant) -> Duration {
        let seconds = (self.ntp_at_zero >> 32).saturating_sub(NTP_TO_UNIX_SECONDS);
        let fraction = self.ntp_at_zero & u64::from(u32::MAX);
        let nanos = seconds * 1_000_000_000 + ((fraction * 1_000_000_000) >> 32);
        Duration::from_nanos(nanos + at.as_nanos())
    }

    /// Wall-clock time at `at`, in milliseconds since the Unix epoch.
    #[must_use]
    pub fn unix_millis(&self, at: Instant) -> u64 {
        let ntp_millis = (u128::from(self.ntp_at_zero) * 1000) >> 32;
        let unix = (ntp_millis as u64).saturating_sub(NTP_TO_UNIX_SECONDS * 1000);
        unix + at.as_nanos() / 1_000_000
    }
}
