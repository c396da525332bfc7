use weft_units::{Duration, Instant, Rng};

/// Jitter is drawn within this many standard deviations (RFC 8868: delay
/// variation without reordering, Gaussian, truncated).
const JITTER_SIGMAS: f64 = 3.0;

/// A delay that varies from packet to packet and keeps their order.
#[derive(Clone, Debug)]
pub struct VaryingDelay {
    delay: Duration,
    jitter: Duration,
    rng: Rng,
    latest: Instant,
}

impl VaryingDelay {
    /// Of this mean and standard deviation, Gaussian, cut off at three of them
    /// and at zero. The generator is asked only where there is jitter.
    #[must_use]
    pub fn new(delay: Duration, jitter: Duration, rng: Rng) -> VaryingDelay {
        VaryingDelay {
            delay,
            jitter,
            rng,
            latest: Instant::ZERO,
        }
    }

    /// When it arrives that left at `sent`, not before those that left earlier.
    #[inline]
    pub fn arrival(&mut self, sent: Instant) -> Instant {
        let way = self.draw();
        self.latest = self.latest.max(sent + way);
        self.latest
    }

    pub(crate) fn delay(&self) -> Duration {
        self.delay
    }

    /// The shortest that jitter makes of this delay.
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
