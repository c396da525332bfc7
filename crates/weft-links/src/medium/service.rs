use weft_units::{Duration, Instant};

/// Service that a medium gave to one of its stations so far. The three times add up
/// exactly to the time since the medium's epoch; a station could have used `used + idle`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServiceTime {
    /// Time in which the medium transmitted the station's packets.
    pub used: Duration,
    /// Time in which the medium was free for the station, which had no packets.
    pub idle: Duration,
    /// Time in which the medium was unavailable to the station: another one used it, or
    /// no station could (an outage, a station that is switched off, the pause before a
    /// turn).
    pub blocked: Duration,
}

/// Current state of a medium for a station.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Service {
    Used,
    Idle,
    Blocked,
}

/// Sums up a station's [`ServiceTime`].
pub(crate) struct Meter {
    present: Service,
    since: Instant,
    before: ServiceTime,
}

impl ServiceTime {
    /// Returns the sum of the three: the age of the medium.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.used + self.idle + self.blocked
    }

    /// Returns the difference to `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &ServiceTime) -> ServiceTime {
        ServiceTime {
            used: self.used - earlier.used,
            idle: self.idle - earlier.idle,
            blocked: self.blocked - earlier.blocked,
        }
    }

    fn add(&mut self, service: Service, time: Duration) {
        match service {
            Service::Used => self.used += time,
            Service::Idle => self.idle += time,
            Service::Blocked => self.blocked += time,
        }
    }
}

impl Meter {
    /// Creates a meter that starts at the run's epoch.
    pub fn new(present: Service) -> Meter {
        Meter {
            present,
            since: Instant::ZERO,
            before: ServiceTime::default(),
        }
    }

    /// Sets the state from `at` on; time must not decrease.
    #[inline]
    pub fn set(&mut self, at: Instant, service: Service) {
        if self.present != service {
            self.before = self.until(at);
            self.since = at;
            self.present = service;
        }
    }

    /// Returns the sums until `now`.
    pub fn until(&self, now: Instant) -> ServiceTime {
        let mut time = self.before;
        time.add(self.present, now.saturating_since(self.since));
        time
    }
}
