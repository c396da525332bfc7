//! Transits of the most recent frames, sorted by time and by size.

use smallvec::SmallVec;
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// Number of frames considered: about four seconds of video; chosen by us.
const WINDOW: usize = 128;
/// Block of time in which all late frames count as one. Lateness in few blocks does not
/// recur, and delaying every later frame for it gains nothing: a path that dies makes one
/// row of late frames. Chosen by us: `demo/ride`.
const BLOCK: Duration = Duration::from_millis(250);
const EVENTS: usize = 3;

/// Transits of the last [`WINDOW`] frames, in nanoseconds. Every frame needs two figures of
/// them, which few frames change.
#[derive(Debug)]
pub(super) struct Transits {
    /// Block number and transit of each frame, oldest first.
    frames: VecDeque<(u64, i64)>,
    /// One frame in so many may exceed the quantile.
    one_in: usize,
    quantile: Option<i64>,
    /// Block number and highest transit of each block.
    worst: VecDeque<(u64, i64)>,
    /// Highest transit that more than [`EVENTS`] blocks reach.
    recurring: Option<i64>,
}

impl Transits {
    /// No transits so far; one frame in `one_in` may exceed the quantile.
    pub(super) fn new(one_in: usize) -> Transits {
        Transits {
            frames: VecDeque::new(),
            one_in,
            quantile: None,
            worst: VecDeque::new(),
            recurring: None,
        }
    }

    /// Adds a frame that has just become complete.
    pub(super) fn add(&mut self, now: Instant, transit: i64) {
        let late = self.late();
        let mut moves_quantile = Some(transit) > self.quantile;
        let mut moves_recurring = Some(transit) > self.recurring;
        if self.frames.len() == WINDOW {
            let oldest = self.worst.front().map(|(_, worst)| *worst);
            moves_recurring |= oldest >= self.recurring;
            moves_quantile |= self.remove_oldest() >= self.quantile;
        }
        let block = now.as_nanos() / BLOCK.as_nanos();
        self.frames.push_back((block, transit));
        match self.worst.back_mut() {
            Some((last, worst)) if *last == block => *worst = transit.max(*worst),
            _ => self.worst.push_back((block, transit)),
        }
        if moves_quantile || self.late() != late {
            self.quantile = self.find_quantile();
        }
        if moves_recurring {
            let worst = self.worst.iter().map(|(_, transit)| *transit);
            self.recurring = nth_highest::<{ 1 + EVENTS }>(worst);
        }
    }

    /// Returns the transit of the frame that is removed.
    fn remove_oldest(&mut self) -> Option<i64> {
        let (block, transit) = self.frames.pop_front()?;
        let rest = self.frames.iter().take_while(|(of, _)| *of == block);
        match (
            rest.map(|(_, transit)| *transit).max(),
            self.worst.front_mut(),
        ) {
            (Some(worst), Some(front)) => front.1 = worst,
            _ => drop(self.worst.pop_front()),
        }
        Some(transit)
    }

    /// Number of frames that may exceed the quantile.
    fn late(&self) -> usize {
        self.frames.len() / self.one_in
    }

    fn find_quantile(&self) -> Option<i64> {
        let frames = self.frames.iter().map(|(_, transit)| *transit);
        let mut transits: SmallVec<[i64; WINDOW]> = frames.collect();
        let place = transits.len().checked_sub(self.late() + 1)?;
        Some(*transits.select_nth_unstable(place).1)
    }

    /// Returns the transit that at most one frame in so many exceeds; `None` without frames.
    pub(super) fn quantile(&self) -> Option<i64> {
        self.quantile
    }

    /// Returns the highest transit reached in more than [`EVENTS`] blocks; `None` if
    /// there are too few.
    pub(super) fn recurring(&self) -> Option<i64> {
        self.recurring
    }
}

/// Returns the `N`-th highest of these values, for a small `N`; `None` if there are fewer
/// values.
pub(super) fn nth_highest<const N: usize>(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut highest = [i64::MIN; N];
    let mut count = 0;
    for value in values {
        count += 1;
        if value <= highest[N - 1] {
            continue;
        }
        highest[N - 1] = value;
        let mut place = N - 1;
        while place > 0 && highest[place - 1] < value {
            highest.swap(place - 1, place);
            place -= 1;
        }
    }
    (count >= N).then(|| highest[N - 1])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the n-th highest value by sorting all.
    fn nth(mut values: Vec<i64>, n: usize) -> Option<i64> {
        values.sort_unstable_by(|a, b| b.cmp(a));
        values.get(n - 1).copied()
    }

    proptest! {
        #[test]
        fn figures_are_those_of_the_last_frames(
            frames in proptest::collection::vec((0_u64..120, -9_i64..9), 1..400),
        ) {
            let (mut transits, mut now) = (Transits::new(20), Instant::ZERO);
            let mut all: Vec<(u64, i64)> = Vec::new();
            for (gap, transit) in frames {
                now += Duration::from_millis(gap);
                transits.add(now, transit);
                all.push((now.as_nanos() / BLOCK.as_nanos(), transit));
                let last = &all[all.len().saturating_sub(WINDOW)..];
                let values = last.iter().map(|(_, transit)| *transit).collect();
                let late = last.len() / 20;
                prop_assert_eq!(transits.quantile(), nth(values, late + 1));
                let blocks = last.chunk_by(|a, b| a.0 == b.0);
                let worst = blocks.filter_map(|block| block.iter().map(|(_, t)| *t).max());
                prop_assert_eq!(transits.recurring(), nth(worst.collect(), 1 + EVENTS));
            }
        }
    }
}
