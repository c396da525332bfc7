//! Faults that last: said when they begin and when they end.

use std::time::{Duration, Instant};

/// One thing that may be at fault.
#[derive(Default)]
pub struct Fault(Option<Present>);

struct Present {
    kind: String,
    since: Instant,
}

impl Fault {
    /// It is at fault of this kind. True if that is news.
    pub fn begins(&mut self, now: Instant, kind: &str) -> bool {
        let since = self.0.as_ref().map_or(now, |present| present.since);
        let news = self.0.as_ref().is_none_or(|present| present.kind != kind);
        let kind = kind.to_owned();
        self.0 = Some(Present { kind, since });
        news
    }

    /// It is not any more. How long it was, if that is news.
    pub fn ends(&mut self, now: Instant) -> Option<Duration> {
        self.0.take().map(|present| now - present.since)
    }
}
