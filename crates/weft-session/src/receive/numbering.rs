//! A path's own numbering of the packets of a stream.

use std::collections::VecDeque;
use weft_units::{Duration, Instant};
use weft_wire::sequence::extend;

/// Longest time by which a packet may be overtaken on its own path; chosen by us.
pub(super) const REORDER_TIME: Duration = Duration::from_millis(10);
const MAX_GAPS: usize = 64;
/// Larger gaps are a restart of the numbering, not loss.
const MAX_NUMBER_GAP: u64 = 1000;

/// Range of numbers that did not arrive on a path when expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gap {
    first_number: u64,
    last_number: u64,
    /// Sequence numbers of the stream on both sides of the gap.
    pub(super) after: u64,
    pub(super) before: u64,
    /// Count of numbers that are still missing.
    pub(super) missing: u64,
    pub(super) seen_at: Instant,
}

#[derive(Debug)]
pub(super) struct PathNumbers {
    highest_number: u64,
    highest_sequence: u64,
    last_arrival: Instant,
    gaps: VecDeque<Gap>,
}

impl PathNumbers {
    pub(super) fn new(now: Instant, number: u16, sequence: u64) -> PathNumbers {
        PathNumbers {
            highest_number: extend(None, number),
            highest_sequence: sequence,
            last_arrival: now,
            gaps: VecDeque::new(),
        }
    }

    pub(super) fn on_number(&mut self, now: Instant, number: u16, sequence: u64) {
        self.last_arrival = now;
        let number = extend(Some(self.highest_number), number);
        if number <= self.highest_number {
            self.fill(|gap| gap.first_number <= number && number <= gap.last_number);
            return;
        }
        let missing = number - self.highest_number - 1;
        if (1..=MAX_NUMBER_GAP).contains(&missing) {
            if self.gaps.len() == MAX_GAPS {
                self.gaps.pop_front();
            }
            self.gaps.push_back(Gap {
                first_number: self.highest_number + 1,
                last_number: number - 1,
                after: self.highest_sequence,
                before: sequence,
                missing,
                seen_at: now,
            });
        }
        self.highest_number = number;
        self.highest_sequence = self.highest_sequence.max(sequence);
    }

    pub(super) fn last_arrival(&self) -> Instant {
        self.last_arrival
    }

    pub(super) fn gaps(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter()
    }

    /// Returns the number of packets on the path since the gap.
    pub(super) fn packets_after(&self, gap: &Gap) -> u64 {
        self.highest_number - gap.last_number
    }

    /// Returns whether the path is in use and has not reached `sequence` yet.
    pub(super) fn may_bring(&self, now: Instant, sequence: u64, allowance: Duration) -> bool {
        self.highest_sequence < sequence && now.saturating_since(self.last_arrival) < allowance
    }

    /// Records that `sequence` arrived otherwise; returns false if no gap surrounds it.
    pub(super) fn fill_around(&mut self, sequence: u64) -> bool {
        self.fill(|gap| gap.after < sequence && sequence < gap.before)
    }

    pub(super) fn forget_before(&mut self, sequence: u64) {
        self.gaps.retain(|gap| gap.before > sequence);
    }

    fn fill(&mut self, around: impl Fn(&Gap) -> bool) -> bool {
        let Some(index) = self.gaps.iter().position(around) else {
            return false;
        };
        self.gaps[index].missing -= 1;
        if self.gaps[index].missing == 0 {
            self.gaps.remove(index);
        }
        true
    }
}
