//! Receiving side: arrivals and acknowledgements.

use weft_links::Ecn;
use weft_units::{Duration, Instant};

use super::ranges::Ranges;
use crate::packet::tcp::{Acknowledgement, BLOCKS, Segment};

/// Delay of an acknowledgement: Linux's `TCP_DELACK_MIN`; RFC 5681 section 4.2 allows up
/// to 500 ms.
const DELAY: Duration = Duration::from_millis(40);
/// Number of full segments per acknowledgement (RFC 5681 section 4.2).
const EVERY: u32 = 2;
/// Number of segments at the start of a connection that are acknowledged one by one, so
/// that slow start does not wait (Linux's `TCP_MAX_QUICKACKS`).
const QUICK: u32 = 16;

pub(crate) struct Receiver {
    next: u32,
    above: Ranges,
    /// Segments that arrived out of order, the newest first.
    newest: [u32; BLOCKS],
    unacknowledged: u32,
    quick: u32,
    echo: bool,
    due: Option<Instant>,
}

impl Receiver {
    /// Creates a receiver that waits for segment `first`.
    pub fn new(first: u32) -> Receiver {
        Receiver {
            next: first,
            above: Ranges::default(),
            newest: [first; BLOCKS],
            unacknowledged: 0,
            quick: QUICK,
            echo: false,
            due: None,
        }
    }

    /// Returns the first segment that has not arrived.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Handles a segment; returns the acknowledgement if one is due immediately.
    pub fn on_segment(
        &mut self,
        now: Instant,
        segment: Segment,
        ecn: Ecn,
    ) -> Option<Acknowledgement> {
        self.echo = match ecn {
            Ecn::Ce => true,
            _ => self.echo && !segment.reduced,
        };
        let number = segment.number;
        let in_order = number == self.next;
        let mut duplicate = number < self.next;
        if in_order {
            self.next += 1;
            if let Some((_, to)) = self.above.find(self.next) {
                self.next = to;
            }
            let filled_a_gap = !self.above.is_empty();
            self.above.remove_below(self.next);
            self.unacknowledged += 1;
            self.quick = self.quick.saturating_sub(1);
            let wait =
                !filled_a_gap && self.quick == 0 && self.unacknowledged < EVERY && ecn != Ecn::Ce;
            if wait {
                self.due.get_or_insert(now + DELAY);
                return None;
            }
        } else if !duplicate {
            duplicate = true;
            self.above
                .insert(number, number + 1, |_, _| duplicate = false);
            self.note(number);
        }
        Some(self.acknowledge(duplicate))
    }

    /// Returns the delayed acknowledgement, if its time has come.
    pub fn on_timer(&mut self, now: Instant) -> Option<Acknowledgement> {
        let due = self.due.is_some_and(|at| at <= now);
        due.then(|| self.acknowledge(false))
    }

    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Puts the range of the newest segment first, then earlier ones (RFC 2018 section
    /// 4).
    fn note(&mut self, number: u32) {
        let same = |&n: &u32| {
            self.above
                .find(n)
                .is_some_and(|(a, b)| (a..b).contains(&number))
        };
        let place = self.newest.iter().position(same).unwrap_or(BLOCKS - 1);
        self.newest[..=place].rotate_right(1);
        self.newest[0] = number;
    }

    fn acknowledge(&mut self, duplicate: bool) -> Acknowledgement {
        self.unacknowledged = 0;
        self.due = None;
        let mut blocks = [(0, 0); BLOCKS];
        if !self.above.is_empty() {
            let mut filled = 0;
            for &number in &self.newest {
                let found = self.above.find(number);
                if let Some(block) = found.filter(|b| !blocks[..filled].contains(b)) {
                    blocks[filled] = block;
                    filled += 1;
                }
            }
        }
        Acknowledgement {
            next: self.next,
            blocks,
            duplicate,
            echo: self.echo,
        }
    }
}

#[cfg(test)]
mod tests;
