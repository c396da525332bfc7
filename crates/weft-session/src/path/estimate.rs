//! Round-trip time and one-way delay of one path.

use std::collections::VecDeque;

use weft_units::{Duration, Instant};

/// Smoothed round-trip time (RFC 6298 section 2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundTrip {
    smoothed: Duration,
    variation: Duration,
    least: Duration,
    measured: bool,
}

/// Share of the difference by which the shortest round trip follows a longer sample.
/// Chosen by us: about three seconds at Janus' five reports a second.
const FORGETS: u64 = 16;

impl RoundTrip {
    /// Creates an estimate that the first sample replaces.
    pub fn assumed(rtt: Duration) -> RoundTrip {
        RoundTrip {
            smoothed: rtt,
            variation: rtt / 2,
            least: rtt,
            measured: false,
        }
    }

    pub fn on_sample(&mut self, sample: Duration) {
        if !self.measured {
            *self = RoundTrip {
                smoothed: sample,
                variation: sample / 2,
                least: sample,
                measured: true,
            };
            return;
        }
        let longer = sample.saturating_sub(self.least);
        self.least = (self.least + longer / FORGETS).min(sample);
        let error = self
            .smoothed
            .saturating_sub(sample)
            .max(sample.saturating_sub(self.smoothed));
        self.variation = (self.variation * 3 + error) / 4;
        self.smoothed = (self.smoothed * 7 + sample) / 8;
    }

    pub fn smoothed(&self) -> Duration {
        self.smoothed
    }

    pub fn variation(&self) -> Duration {
        self.variation
    }

    /// Returns the shortest recent sample, which contains neither queues nor the peer's
    /// wait between an arrival and its report.
    pub fn least(&self) -> Duration {
        self.least
    }

    /// Returns the time after which an answer is overdue (RFC 6298 section 2.3, without
    /// its one-second floor).
    pub fn overdue(&self) -> Duration {
        self.smoothed + (self.variation * 4).max(Duration::from_millis(10))
    }
}

/// Longest sample of the last ten to twenty seconds, the same memory as for dangers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    period: u64,
    longest: Duration,
    before: Duration,
}

impl Recent {
    pub fn on_sample(&mut self, now: Instant, sample: Duration) {
        const PERIOD: Duration = Duration::from_secs(10);
        let period = now.as_nanos() / PERIOD.as_nanos();
        let passed = period - self.period;
        if passed > 0 {
            self.before = if passed == 1 {
                self.longest
            } else {
                Duration::ZERO
            };
            (self.period, self.longest) = (period, Duration::ZERO);
        }
        self.longest = self.longest.max(sample);
    }

    pub fn longest(&self) -> Duration {
        self.longest.max(self.before)
    }
}

/// One-way delay of a path. Only differences between paths are meaningful, because the
/// value contains the offset between the two clocks.
///
/// The peer's arrival times come from one clock for all paths, so the difference of two
/// paths' values is their skew. Half a round trip would add the delay of the return path.
#[derive(Debug, Default)]
pub(crate) struct OneWay {
    samples: VecDeque<(Instant, i64)>,
}

/// Age above which a sample says nothing about the current queue.
const WINDOW: Duration = Duration::from_millis(500);
const MAX_SAMPLES: usize = 32;

impl OneWay {
    /// Records a packet that left at `sent` (our clock) and arrived at `arrival` (the
    /// peer's clock).
    pub fn on_sample(&mut self, now: Instant, sent: Instant, arrival: Instant) {
        while self
            .samples
            .front()
            .is_some_and(|(at, _)| now.saturating_since(*at) > WINDOW)
            || self.samples.len() >= MAX_SAMPLES
        {
            self.samples.pop_front();
        }
        self.samples
            .push_back((now, arrival.signed_nanos_since(sent)));
    }

    /// Returns the mean over the newest samples, in nanoseconds plus an unknown constant
    /// that all paths share.
    pub fn recent(&self) -> Option<i64> {
        const NEWEST: usize = 4;
        let take = self.samples.len().min(NEWEST);
        if take == 0 {
            return None;
        }
        let newest = self.samples.iter().rev().take(take);
        let sum: i128 = newest.map(|(_, d)| i128::from(*d)).sum();
        // A 64-bit division is one instruction, a 128-bit division about a hundred.
        Some(match i64::try_from(sum) {
            Ok(sum) => sum / take as i64,
            Err(_) => (sum / take as i128) as i64,
        })
    }

    pub fn clear(&mut self) {
        self.samples.clear();
    }
}

#[cfg(test)]
mod tests;
