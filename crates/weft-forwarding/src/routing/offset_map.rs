use std::collections::VecDeque;

#[cfg(test)]
mod tests;

/// Maximum number of remembered segments. One is added whenever forwarding starts or
/// stops, at most twice per dropped picture: at 30 pictures a second, this covers some
/// seconds of late packets. Chosen by us.
const MAX_SEGMENTS: usize = 256;

/// Maps the incoming numbers of one source to outgoing ones that are contiguous across
/// intentional drops.
///
/// A number that did not arrive keeps its place, so a loss upstream stays visible as a
/// gap downstream, and a late packet still fits.
#[derive(Debug, Clone)]
pub(crate) struct OffsetMap {
    segments: VecDeque<Segment>,
    next: u64,
    next_out: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    start: u64,
    /// Outgoing number of `start`; `None` if the segment is dropped.
    out: Option<u64>,
}

/// Place of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Sent with this number.
    Out(u64),
    /// Dropped intentionally; has no number.
    Dropped,
    /// Older than the remembered ones.
    Forgotten,
    /// Higher than all numbers with a place.
    New,
}

impl OffsetMap {
    /// Creates a map that sends the number `first` as `first_out`, and earlier numbers never.
    pub(crate) fn new(first: u64, first_out: u64) -> OffsetMap {
        OffsetMap {
            segments: VecDeque::from([Segment {
                start: first,
                out: Some(first_out),
            }]),
            next: first,
            next_out: first_out,
        }
    }

    /// Lowest incoming number without a place.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Outgoing number after all assigned ones.
    pub(crate) fn next_out(&self) -> u64 {
        self.next_out
    }

    /// Assigns outgoing numbers to all up to `number`.
    pub(crate) fn keep_to(&mut self, number: u64) {
        if number < self.next {
            return;
        }
        if self.segments.back().is_some_and(|s| s.out.is_none()) {
            self.push(Segment {
                start: self.next,
                out: Some(self.next_out),
            });
        }
        self.next_out += number + 1 - self.next;
        self.next = number + 1;
    }

    /// Drops the numbers `from..=to`; missing ones before `from` keep their places.
    pub(crate) fn drop_range(&mut self, from: u64, to: u64) {
        let from = from.max(self.next);
        if from > to {
            return;
        }
        if from > self.next {
            self.keep_to(from - 1);
        }
        let dropped = Segment {
            start: from,
            out: None,
        };
        match self.segments.back_mut() {
            Some(last) if last.start == from => *last = dropped,
            Some(last) if last.out.is_none() => {}
            _ => self.push(dropped),
        }
        self.next = to + 1;
    }

    /// Returns the place of `number`.
    pub(crate) fn place(&self, number: u64) -> Place {
        if number >= self.next {
            return Place::New;
        }
        match self.segments.iter().rev().find(|s| s.start <= number) {
            None => Place::Forgotten,
            Some(Segment { out: None, .. }) => Place::Dropped,
            Some(Segment {
                start,
                out: Some(out),
            }) => Place::Out(out + (number - start)),
        }
    }

    fn push(&mut self, segment: Segment) {
        self.segments.push_back(segment);
        if self.segments.len() > MAX_SEGMENTS {
            self.segments.pop_front();
        }
    }
}

/// Set of the latest numbers seen.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    bits: Vec<u64>,
    next: u64,
}

impl Seen {
    /// Number of remembered numbers: seconds of video, and twice the 1024 packets of
    /// libwebrtc's own replay window.
    pub(crate) const WINDOW: u64 = 2048;

    pub(crate) fn new() -> Seen {
        Seen {
            bits: vec![0; (Self::WINDOW / 64) as usize],
            next: 0,
        }
    }

    /// Marks `number`; false if it was marked before or is too old to be known.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        if number + Self::WINDOW < self.next {
            return false;
        }
        let first_fresh = self.next.max(number.saturating_sub(Self::WINDOW - 1));
        for fresh in first_fresh..=number {
            let (word, bit) = Self::slot(fresh);
            self.bits[word] &= !bit;
        }
        self.next = self.next.max(number + 1);
        let (word, bit) = Self::slot(number);
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        new
    }

    fn slot(number: u64) -> (usize, u64) {
        let at = number % Self::WINDOW;
        ((at / 64) as usize, 1 << (at % 64))
    }
}
