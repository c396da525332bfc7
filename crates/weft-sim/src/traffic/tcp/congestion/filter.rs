//! The largest value of the last so many rounds.

use std::collections::VecDeque;

/// Values that are the largest since their round, falling.
pub(super) struct WindowedMax {
    window: u64,
    values: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// Over so many rounds; nothing is allocated later.
    pub fn new(window: u64) -> WindowedMax {
        WindowedMax {
            window,
            values: VecDeque::with_capacity(window as usize + 2),
        }
    }

    /// A value of `round`, which never goes back. The newest value stays, so
    /// there is always one.
    pub fn update(&mut self, round: u64, value: f64) {
        while self.values.back().is_some_and(|v| v.1 <= value) {
            self.values.pop_back();
        }
        if self.values.back().is_none_or(|v| v.0 < round) {
            self.values.push_back((round, value));
        }
        while self
            .values
            .front()
            .is_some_and(|v| v.0 + self.window <= round)
        {
            self.values.pop_front();
        }
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.values.clear();
    }

    /// Zero before the first value.
    pub fn max(&self) -> f64 {
        self.values.front().map_or(0.0, |v| v.1)
    }
}

#[cfg(test)]
mod tests;
