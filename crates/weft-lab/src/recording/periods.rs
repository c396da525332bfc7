//! Sums of bytes in periods of equal length.

use std::collections::BTreeMap;

use super::track::Span;

/// Maximum duration of a recording; chosen by us: it limits the memory for a file whose
/// clock jumps.
pub const MAX_SECONDS: f64 = 86_400.0;
/// Length of a period in seconds: that of the simulator's samples.
pub const PERIOD_S: f64 = 0.2;
/// Maximum number of periods: those of the longest recording.
const MAX_PERIODS: usize = (MAX_SECONDS / PERIOD_S) as usize;

/// Sums by period. Memory depends on the number of periods with an amount, so neither a
/// large file nor a jumping clock takes much.
#[derive(Clone, Default, Debug)]
pub struct Periods {
    sums: BTreeMap<usize, f64>,
}

impl Periods {
    /// Adds an amount at a time in seconds. Ignores times after the maximum duration.
    pub fn add(&mut self, at: f64, amount: f64) {
        let index = (at / PERIOD_S).max(0.0) as usize;
        if index >= MAX_PERIODS {
            return;
        }
        *self.sums.entry(index).or_default() += amount;
    }

    /// Adds the amounts of another one.
    pub fn merge(&mut self, other: &Periods) {
        for (index, amount) in &other.sums {
            *self.sums.entry(*index).or_default() += amount;
        }
    }

    /// Returns the sum of all periods.
    pub fn total(&self) -> f64 {
        self.sums.values().sum()
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// Returns the amount per second of each period until `end`, times `scale`; consecutive
    /// periods without an amount are one span. The last period may be shorter.
    pub fn rates(&self, end: f64, scale: f64) -> Vec<Span> {
        let count = (end / PERIOD_S).ceil().max(1.0) as usize;
        let count = count.min(MAX_PERIODS);
        let begin = |index: usize| index as f64 * PERIOD_S;
        let until = |index| (begin(index) + PERIOD_S).min(end.max(begin(index) + PERIOD_S / 10.0));
        let (mut spans, mut next) = (Vec::new(), 0);
        for (index, sum) in self.sums.range(..count) {
            let (from, until) = (begin(*index), until(*index));
            if next < *index {
                spans.push(Span {
                    from: begin(next),
                    until: from,
                    value: 0.0,
                });
            }
            spans.push(Span {
                from,
                until,
                value: sum * scale / (until - from),
            });
            next = index + 1;
        }
        if next < count {
            spans.push(Span {
                from: begin(next),
                until: until(count - 1),
                value: 0.0,
            });
        }
        spans
    }
}

/// Mbit in a byte.
pub const MBIT: f64 = 8.0 / 1e6;
