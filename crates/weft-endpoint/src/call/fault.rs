//! Persistent faults, reported once when they start and once when they end.

use std::time::{Duration, Instant};

/// A possible fault, with its kind and start.
#[derive(Default)]
pub struct OngoingFault(Option<Present>);

struct Present {
    kind: String,
    since: Instant,
}

impl OngoingFault {
    /// Records a fault of this kind; returns true if there was none, or one of another
    /// kind.
    pub fn begins(&mut self, now: Instant, kind: &str) -> bool {
        let since = self.0.as_ref().map_or(now, |present| present.since);
        let news = self.0.as_ref().is_none_or(|present| present.kind != kind);
        let kind = kind.to_owned();
        self.0 = Some(Present { kind, since });
        news
    }

    /// Records the end of the fault; returns its duration if there was one.
    pub fn ends(&mut self, now: Instant) -> Option<Duration> {
        self.0.take().map(|present| now - present.since)
    }
}
