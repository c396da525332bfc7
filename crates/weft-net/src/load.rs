//! How much of what it can a driver does.

use weft_units::{Bytes, Duration, Instant, Rate};

/// How long is looked at: shorter than it takes people to notice, longer than a
/// burst. Chosen by us.
const WINDOW: Duration = Duration::from_secs(1);

/// What a driver did in the last second that is over.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Load {
    /// The share of the time in which it was not waiting, 0 to 1. Beyond nine
    /// tenths packets wait for it.
    pub busy: f64,
    /// What it sent, with the headers of UDP payloads left out.
    pub sent: Rate,
}

/// Measures it.
#[derive(Debug)]
pub(crate) struct Meter {
    since: Instant,
    waited: Duration,
    sent: Bytes,
    last: Load,
}

impl Meter {
    pub fn new(now: Instant) -> Meter {
        Meter {
            since: now,
            waited: Duration::ZERO,
            sent: Bytes(0),
            last: Load::default(),
        }
    }

    /// It has waited, from then until now.
    pub fn on_wait(&mut self, from: Instant, now: Instant) {
        self.waited += now.saturating_since(from);
        let elapsed = now.saturating_since(self.since);
        if elapsed >= WINDOW {
            let waited = self.waited.as_secs_f64() / elapsed.as_secs_f64();
            self.last = Load {
                busy: 1.0 - waited,
                sent: self.sent / elapsed,
            };
            *self = Meter {
                last: self.last,
                ..Meter::new(now)
            };
        }
    }

    pub fn on_sent(&mut self, octets: usize) {
        self.sent = Bytes(self.sent.0 + octets as u64);
    }

    pub fn load(&self) -> Load {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_driver_that_works_three_milliseconds_of_four_is_three_quarters_busy() {
        let mut meter = Meter::new(at(0));
        for turn in 0..250 {
            meter.on_sent(500);
            meter.on_wait(at(4 * turn + 3), at(4 * turn + 4));
        }
        let load = meter.load();
        assert!((load.busy - 0.75).abs() < 1e-9, "{load:?}");
        assert_eq!(load.sent, Rate::from_mbps(1));
        // Then it waits, and a second later that is known.
        meter.on_wait(at(1_000), at(2_000));
        assert_eq!(meter.load(), Load::default());
    }
}
