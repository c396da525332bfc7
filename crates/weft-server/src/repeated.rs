//! Events that strangers can cause without limit: the first few are logged
//! individually, the others counted.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Interval of the counts in the log. Chosen by us: the log shows an attack
/// while it lasts.
pub(crate) const INTERVAL: Duration = Duration::from_secs(10);

/// Counts by kind. Memory is bounded by the number of kinds, so a kind never
/// contains text from a stranger.
pub(crate) struct Repeated<K> {
    /// Events of a kind that are logged individually in an interval.
    at_once: u64,
    rows: Mutex<BTreeMap<K, Row>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    total: u64,
    of_interval: u64,
}

impl<K: Ord + Copy> Repeated<K> {
    pub(crate) fn new(at_once: u64) -> Repeated<K> {
        Repeated {
            at_once,
            rows: Mutex::default(),
        }
    }

    /// Counts one more; returns whether to log it.
    pub(crate) fn count(&self, kind: K) -> bool {
        let mut rows = self.lock();
        let row = rows.entry(kind).or_default();
        row.total += 1;
        row.of_interval += 1;
        row.of_interval <= self.at_once
    }

    /// Ends an interval; returns the number of each kind that was not logged.
    pub(crate) fn end_interval(&self) -> Vec<(K, u64)> {
        let mut rows = self.lock();
        let more = rows.iter_mut().map(|(kind, row)| {
            let times = std::mem::take(&mut row.of_interval);
            (*kind, times.saturating_sub(self.at_once))
        });
        more.filter(|(_, more)| *more > 0).collect()
    }

    /// Returns the totals since the start, for statistics.
    pub(crate) fn totals(&self) -> Vec<(K, u64)> {
        let rows = self.lock();
        rows.iter().map(|(kind, row)| (*kind, row.total)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<K, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_of_an_interval_are_written_down_and_the_others_counted() {
        let repeated = Repeated::new(2);
        let written = (0..1000).filter(|_| repeated.count("a")).count();
        assert_eq!(written, 2);
        assert!(repeated.count("b"));
        assert_eq!(repeated.end_interval(), [("a", 998)]);
        assert_eq!(repeated.end_interval(), []);
        assert!(repeated.count("a"));
        assert_eq!(repeated.totals(), [("a", 1001), ("b", 1)]);
    }
}
