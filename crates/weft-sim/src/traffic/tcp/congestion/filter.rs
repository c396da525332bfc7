//! Maximum over a window of rounds.

use std::collections::VecDeque;

/// Values that are the maximum since their round, in descending order.
pub(super) struct WindowedMax {
    window: u64,
    values: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// Creates a filter over this many rounds; it allocates nothing later.
    pub fn new(window: u64) -> WindowedMax {
        WindowedMax {
            window,
            values: VecDeque::with_capacity(window as usize + 2),
        }
    }

    /// Adds a value of `round`, which never decreases. The newest value stays, so there
    /// is always one.
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

    /// Returns the maximum; zero before the first value.
    pub fn max(&self) -> f64 {
        self.values.front().map_or(0.0, |v| v.1)
    }
}

#[cfg(test)]
mod tests;
