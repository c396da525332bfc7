//! Transits of the most recent frames, sorted by time and by size.

use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// Number of frames considered: about four seconds of video; chosen by us.
const WINDOW: usize = 128;
/// Block of time in which all late frames count as one. Lateness in few blocks does not
/// recur, and delaying every later frame for it gains nothing: a path that dies makes one
/// row of late frames. Chosen by us: `demo/ride`.
const BLOCK: Duration = Duration::from_millis(250);
const EVENTS: usize = 3;

/// Transits of the last [`WINDOW`] frames, in nanoseconds. They are kept sorted because
/// every frame needs their quantile.
#[derive(Debug, Default)]
pub(super) struct Transits {
    /// Block number and transit of each frame, oldest first.
    frames: VecDeque<(u64, i64)>,
    /// Transits, the lowest first.
    sorted: Vec<i64>,
    /// Block number and highest transit of each block.
    worst: VecDeque<(u64, i64)>,
    /// Highest transit that more than [`EVENTS`] blocks reach. Few frames change it.
    recurring: Option<i64>,
}

impl Transits {
    /// Adds a frame that has just become complete.
    pub(super) fn add(&mut self, now: Instant, transit: i64) {
        let oldest = self.worst.front().map(|(_, worst)| *worst);
        let mut is_stale = Some(transit) > self.recurring;
        if self.frames.len() == WINDOW {
            is_stale |= oldest >= self.recurring;
            self.remove_oldest();
        }
        let block = now.as_nanos() / BLOCK.as_nanos();
        self.frames.push_back((block, transit));
        let place = self.sorted.partition_point(|known| *known < transit);
        self.sorted.insert(place, transit);
        match self.worst.back_mut() {
            Some((last, worst)) if *last == block => *worst = transit.max(*worst),
            _ => self.worst.push_back((block, transit)),
        }
        if is_stale {
            let worst = self.worst.iter().map(|(_, transit)| *transit);
            self.recurring = nth_highest::<{ 1 + EVENTS }>(worst);
        }
    }

    fn remove_oldest(&mut self) {
        let Some((block, transit)) = self.frames.pop_front() else {
            return;
        };
        let place = self.sorted.partition_point(|known| *known < transit);
        self.sorted.remove(place);
        let rest = self.frames.iter().take_while(|(of, _)| *of == block);
        match (
            rest.map(|(_, transit)| *transit).max(),
            self.worst.front_mut(),
        ) {
            (Some(worst), Some(front)) => front.1 = worst,
            _ => drop(self.worst.pop_front()),
        }
    }

    /// Returns the transit that at most one frame in `one_in` exceeds; `None` without
    /// frames.
    pub(super) fn quantile(&self, one_in: usize) -> Option<i64> {
        let late = self.frames.len() / one_in;
        let place = self.sorted.len().checked_sub(late + 1)?;
        Some(self.sorted[place])
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
            let (mut transits, mut now) = (Transits::default(), Instant::ZERO);
            let mut all: Vec<(u64, i64)> = Vec::new();
            for (gap, transit) in frames {
                now += Duration::from_millis(gap);
                transits.add(now, transit);
                all.push((now.as_nanos() / BLOCK.as_nanos(), transit));
                let last = &all[all.len().saturating_sub(WINDOW)..];
                let values = last.iter().map(|(_, transit)| *transit).collect();
                let late = last.len() / 20;
                prop_assert_eq!(transits.quantile(20), nth(values, late + 1));
                let blocks = last.chunk_by(|a, b| a.0 == b.0);
                let worst = blocks.filter_map(|block| block.iter().map(|(_, t)| *t).max());
                prop_assert_eq!(transits.recurring(), nth(worst.collect(), 1 + EVENTS));
            }
        }
    }
}
