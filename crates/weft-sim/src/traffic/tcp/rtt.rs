//! Round-trip time and the retransmission timeout (RFC 6298).

use weft_units::{Duration, Instant};

/// Smallest timeout: Linux's `TCP_RTO_MIN`; RFC 6298 section 2.4 recommends one second,
/// and allows less.
const RTO_MIN: Duration = Duration::from_millis(200);
/// Timeout before any sample (RFC 6298 section 2.1).
const RTO_INITIAL: Duration = Duration::from_secs(1);
/// Largest timeout: Linux's `TCP_RTO_MAX`; RFC 6298 section 2.5 requires at least 60 s.
const RTO_MAX: Duration = Duration::from_secs(120);
/// Window of the smallest round trip: Linux's `tcp_min_rtt_wlen`.
const MIN_WINDOW: Duration = Duration::from_secs(300);

#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    smoothed: Option<Duration>,
    variation: Duration,
    min: Option<(Duration, Instant)>,
    backoff: u32,
}

impl Rtt {
    pub fn new() -> Rtt {
        Rtt {
            smoothed: None,
            variation: Duration::ZERO,
            min: None,
            backoff: 0,
        }
    }

    /// Adds a sample of a segment that was sent once (Karn's rule).
    pub fn on_sample(&mut self, now: Instant, rtt: Duration) {
        match self.smoothed {
            None => {
                self.smoothed = Some(rtt);
                self.variation = rtt / 2;
            }
            Some(smoothed) => {
                let error = smoothed
                    .saturating_sub(rtt)
                    .max(rtt.saturating_sub(smoothed));
                self.variation = (self.variation * 3 + error) / 4;
                self.smoothed = Some((smoothed * 7 + rtt) / 8);
            }
        }
        let stale = |at: Instant| now.saturating_since(at) > MIN_WINDOW;
        if self.min.is_none_or(|(min, at)| rtt <= min || stale(at)) {
            self.min = Some((rtt, now));
        }
    }

    /// Records an acknowledgement. With timestamps (RFC 7323), even a retransmitted
    /// segment gives a sample, which ends the backoff.
    pub fn on_progress(&mut self) {
        self.backoff = 0;
    }

    /// Doubles the timeout after the timer expired (RFC 6298 section 5.5).
    pub fn on_timeout(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    pub fn smoothed(&self) -> Option<Duration> {
        self.smoothed
    }

    pub fn min(&self) -> Option<Duration> {
        self.min.map(|m| m.0)
    }

    /// Returns the timeout for an acknowledgement. As in Linux, the lower bound applies
    /// to the variation: the timeout exceeds the round trip by it.
    pub fn timeout(&self) -> Duration {
        let base = self.smoothed.map_or(RTO_INITIAL, |smoothed| {
            smoothed + (self.variation * 4).max(RTO_MIN)
        });
        (base * (1 << self.backoff)).min(RTO_MAX)
    }
}

#[cfg(test)]
mod tests;
