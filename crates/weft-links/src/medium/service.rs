use weft_units::{Duration, Instant};

/// What a medium was to one of its stations so far. The three make up the
/// time since the medium's epoch, exactly; what a station could have had is
/// `used + idle`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ServiceTime {
    /// The medium transmitted the station's packets.
    pub used: Duration,
    /// It was free to the station, which had nothing to send.
    pub idle: Duration,
    /// The station could not have it: another one had, or it belonged to
    /// nobody (an outage, a station that is cut off, the pause before a turn).
    pub blocked: Duration,
}

/// What a medium is to a station at present.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Service {
    Used,
    Idle,
    Blocked,
}

/// Adds up a station's [`ServiceTime`].
pub(crate) struct Meter {
    present: Service,
    since: Instant,
    before: ServiceTime,
}

impl ServiceTime {
    /// All of it: the age of the medium.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.used + self.idle + self.blocked
    }

    /// What was added since `earlier`.
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
    /// From the run's epoch on.
    pub fn new(present: Service) -> Meter {
        Meter {
            present,
            since: Instant::ZERO,
            before: ServiceTime::default(),
        }
    }

    /// The medium is `service` from `at` on; time does not go back.
    #[inline]
    pub fn set(&mut self, at: Instant, service: Service) {
        if self.present != service {
            self.before = self.until(at);
            self.since = at;
            self.present = service;
        }
    }

    /// What has added up until `now`.
    pub fn until(&self, now: Instant) -> ServiceTime {
        let mut time = self.before;
        time.add(self.present, now.saturating_since(self.since));
        time
    }
}
