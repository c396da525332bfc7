//! Load of a driver.

use nix::time::{ClockId, clock_gettime};
use weft_units::{Bytes, Duration, Instant, Rate};

/// Measuring interval: shorter than people notice, longer than a burst. Chosen
/// by us.
const WINDOW: Duration = Duration::from_secs(1);

/// Load of a driver in the last full second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Load {
    /// Share of the time in which its thread had a processor, 0 to 1. Above
    /// nine tenths packets wait for it. Time in which the thread waits for a
    /// processor does not count, because other programs cause it.
    pub busy: f64,
    /// Sending rate of UDP payloads, without headers.
    pub sent: Rate,
    /// Longest turn of the loop: a datagram or a deadline may have waited this long for
    /// the next turn.
    pub lag: Duration,
}

/// Meter of the load.
#[derive(Debug)]
pub(crate) struct Meter {
    since: Instant,
    /// Processor time of the thread at that time.
    used: Duration,
    sent: Bytes,
    /// Start of the present turn.
    woke: Instant,
    lag: Duration,
    last: Load,
}

impl Meter {
    /// Creates the meter of a thread that starts now.
    pub fn new(now: Instant) -> Meter {
        Meter {
            since: now,
            used: Duration::ZERO,
            sent: Bytes(0),
            woke: now,
            lag: Duration::ZERO,
            last: Load::default(),
        }
    }

    /// Records the start of a turn of the thread; `used` returns the thread's
    /// processor time and is called once per interval.
    pub fn on_turn(&mut self, now: Instant, used: impl FnOnce() -> Duration) {
        self.woke = now;
        let elapsed = now.saturating_since(self.since);
        if elapsed >= WINDOW {
            let used = used();
            let busy = used.saturating_sub(self.used);
            self.last = Load {
                busy: busy.as_secs_f64() / elapsed.as_secs_f64(),
                sent: self.sent / elapsed,
                lag: self.lag,
            };
            *self = Meter {
                used,
                last: self.last,
                ..Meter::new(now)
            };
        }
    }

    /// Records the end of a turn.
    pub fn on_turn_end(&mut self, now: Instant) {
        self.lag = self.lag.max(now.saturating_since(self.woke));
    }

    pub fn on_sent(&mut self, octets: usize) {
        self.sent = Bytes(self.sent.0 + octets as u64);
    }

    pub fn load(&self) -> Load {
        self.last
    }
}

/// Processor time used by the calling thread.
pub(crate) fn processor_time() -> Duration {
    // Linux has this clock since 2.6.12.
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, |time| {
        std::time::Duration::from(time).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_lag_is_the_longest_turn_of_a_second() {
        let mut meter = Meter::new(at(0));
        for (start, end) in [(0, 1), (100, 130), (500, 503), (1_000, 1_050)] {
            meter.on_turn(at(start), || Duration::ZERO);
            meter.on_turn_end(at(end));
        }
        assert_eq!(meter.load().lag, Duration::from_millis(30));
        meter.on_turn(at(2_000), || Duration::ZERO);
        assert_eq!(meter.load().lag, Duration::from_millis(50));
        meter.on_turn(at(3_000), || Duration::ZERO);
        assert_eq!(meter.load().lag, Duration::ZERO);
    }

    #[test]
    fn a_driver_that_works_three_milliseconds_of_four_is_three_quarters_busy() {
        let mut meter = Meter::new(at(0));
        for turn in 1..=250 {
            meter.on_sent(500);
            meter.on_turn(at(4 * turn), || Duration::from_millis(3 * turn));
        }
        let load = meter.load();
        assert!((load.busy - 0.75).abs() < 1e-9, "{load:?}");
        assert_eq!(load.sent, Rate::from_mbps(1));
        // Then the thread waits, which is visible a second later.
        meter.on_turn(at(2_000), || Duration::from_millis(750));
        assert_eq!(meter.load(), Load::default());
    }
}
