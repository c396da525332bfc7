//! Events and figures of a running call, until its end.

use std::time::{Duration, Instant};

use weft_endpoint::{Event, NoEvent, Statistics};

use crate::event_lines;

/// Time between figures.
const FIGURES: Duration = Duration::from_secs(1);

/// Output of a running call.
pub enum Output {
    Event(Event),
    /// Statistics, once a second.
    Figures(Statistics),
}

/// Passes everything to `take` until the call ends or `limit` has passed.
pub fn follow(
    limit: Option<Duration>,
    next_event: impl Fn(Duration) -> Result<Event, NoEvent>,
    statistics: impl Fn() -> Option<Statistics>,
    mut take: impl FnMut(Output),
) {
    let end = limit.map(|limit| Instant::now() + limit);
    let mut next_figures = Instant::now() + FIGURES;
    loop {
        let now = Instant::now();
        if end.is_some_and(|end| now >= end) {
            return;
        }
        if now >= next_figures {
            next_figures = now + FIGURES;
            event_lines::write_omitted();
            if let Some(figures) = statistics() {
                take(Output::Figures(figures));
            }
        }
        let wake = end.map_or(next_figures, |end| end.min(next_figures));
        match next_event(wake.saturating_duration_since(now)) {
            Ok(event) => take(Output::Event(event)),
            Err(NoEvent::TimedOut) => {}
            Err(NoEvent::Ended) => return,
        }
    }
}
