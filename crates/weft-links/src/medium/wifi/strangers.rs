//! Others on the same radio channel, of another cell or another kind.

use weft_units::{Duration, Instant, Rng};

/// A busy period's mean length; chosen by us: about an aggregate.
const BUSY: Duration = Duration::from_millis(2);

/// Strangers who hold the medium now and then, for a share of the time that
/// the cell leaves them: pauses and busy periods are exponential. They do not
/// interrupt an exchange, and nobody of the cell interrupts them.
pub(super) struct Strangers {
    /// Mean of the pauses.
    pause: Duration,
    next: Instant,
    rng: Rng,
}

impl Strangers {
    /// Those who hold the medium for this share of the time, below 1; none if
    /// it is zero.
    pub fn new(share: f64, rng: Rng) -> Option<Strangers> {
        (share > 0.0).then(|| {
            let mut strangers = Strangers {
                pause: BUSY.mul_f64((1.0 - share) / share),
                next: Instant::ZERO,
                rng,
            };
            strangers.rest(Instant::ZERO);
            strangers
        })
    }

    /// When they take the medium, if it is idle then.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// They take it at `at`: until when. The pause after it begins then.
    pub fn take(&mut self, at: Instant) -> Instant {
        let until = at + self.draw(BUSY);
        self.rest(until);
        until
    }

    fn rest(&mut self, from: Instant) {
        self.next = from + self.draw(self.pause);
    }

    fn draw(&mut self, mean: Duration) -> Duration {
        mean.mul_f64(-(1.0 - self.rng.unit()).ln())
    }
}
