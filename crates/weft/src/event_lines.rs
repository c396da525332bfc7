//! Lines about the events of a call, on standard error. A server can cause any number of
//! events, but it must not exhaust a terminal or a log.

use std::fmt::Arguments;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Number of lines in a burst. Chosen by us: all participants of a large room join.
const AT_ONCE: f64 = 200.0;
/// Sustained lines per second. Chosen by us: faster than anyone reads.
const A_SECOND: f64 = 10.0;

/// Rate limit of the lines, and the number of omitted ones.
struct Pace {
    at: Option<Instant>,
    left: f64,
    omitted: u64,
}

static PACE: Mutex<Pace> = Mutex::new(Pace {
    at: None,
    left: AT_ONCE,
    omitted: 0,
});

impl Pace {
    /// Whether another line may be written now; otherwise it counts as omitted.
    fn admit(&mut self, now: Instant) -> bool {
        let since = self.at.map(|at| now.saturating_duration_since(at));
        let earned = since.unwrap_or_default().as_secs_f64() * A_SECOND;
        self.at = Some(now);
        self.left = (self.left + earned).min(AT_ONCE);
        let is_admitted = self.left >= 1.0;
        match is_admitted {
            true => self.left -= 1.0,
            false => self.omitted += 1,
        }
        is_admitted
    }
}

/// Writes a line about an event, unless there were too many lines.
macro_rules! event_line {
    ($($words:tt)*) => {
        $crate::event_lines::write(format_args!($($words)*))
    };
}

pub fn write(line: Arguments<'_>) {
    let admitted = PACE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .admit(Instant::now());
    if admitted {
        complain!("{line}");
    }
}

/// Writes how many lines were omitted since the last time, if any.
pub fn write_omitted() {
    let mut pace = PACE.lock().unwrap_or_else(PoisonError::into_inner);
    match std::mem::take(&mut pace.omitted) {
        0 => {}
        omitted => complain!("weft: {omitted} further messages of the server were left out"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_flood_is_counted_and_ordinary_lines_are_written() {
        let mut pace = Pace {
            at: None,
            left: AT_ONCE,
            omitted: 0,
        };
        let start = Instant::now();
        let written = |pace: &mut Pace, at: u64, lines: u64| {
            let now = start + Duration::from_secs(at);
            (0..lines).filter(|_| pace.admit(now)).count()
        };
        assert_eq!(written(&mut pace, 0, 150), 150);
        assert_eq!(written(&mut pace, 1, 1000), 60);
        assert_eq!(pace.omitted, 940);
        assert_eq!(written(&mut pace, 2, 1000), 10);
        assert_eq!(written(&mut pace, 100, 1000), 200);
    }
}
