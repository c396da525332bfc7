use weft_units::{Duration, Instant, Rng};

/// Number of standard deviations within which jitter is drawn (RFC 8868: delay variation
/// without reordering, Gaussian, truncated).
const JITTER_SIGMAS: f64 = 3.0;

/// Delay that varies from packet to packet and keeps their order.
#[derive(Clone, Debug)]
pub struct VaryingDelay {
    delay: Duration,
    jitter: Duration,
    rng: Rng,
    latest: Instant,
}

impl VaryingDelay {
    /// Creates a Gaussian delay with this mean and standard deviation, truncated at three
    /// deviations and at zero. Draws random numbers only if there is jitter.
    #[must_use]
    pub fn new(delay: Duration, jitter: Duration, rng: Rng) -> VaryingDelay {
        VaryingDelay {
            delay,
            jitter,
            rng,
            latest: Instant::ZERO,
        }
    }

    /// Returns the arrival time of a packet that left at `sent`; never before a packet
    /// that left earlier.
    #[inline]
    pub fn arrival(&mut self, sent: Instant) -> Instant {
        let way = self.draw();
        self.latest = self.latest.max(sent + way);
        self.latest
    }

    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns the shortest delay that jitter can produce.
    pub(crate) fn shortest(&self, delay: Duration) -> Duration {
        delay.saturating_sub(self.jitter.mul_f64(JITTER_SIGMAS))
    }

    pub(crate) fn set_delay(&mut self, delay: Duration) {
        self.delay = delay;
    }

    pub(crate) fn set_jitter(&mut self, jitter: Duration) {
        self.jitter = jitter;
    }

    fn draw(&mut self) -> Duration {
        if self.jitter == Duration::ZERO {
            return self.delay;
        }
        let sigmas = loop {
            let z = self.rng.normal();
            if z.abs() <= JITTER_SIGMAS {
                break z;
            }
        };
        if sigmas < 0.0 {
            self.delay.saturating_sub(self.jitter.mul_f64(-sigmas))
        } else {
            self.delay + self.jitter.mul_f64(sigmas)
        }
    }
}
