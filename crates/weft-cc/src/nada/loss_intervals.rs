use std::collections::VecDeque;

/// Weights of the intervals between losses, the newest first (RFC 5348
/// section 5.4, `n` = 8).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// `loss_int`: number of packets from one loss to the next, averaged as in RFC 5348
/// section 5.4. Consecutive lost packets are one loss.
#[derive(Debug, Default)]
pub(super) struct LossIntervals {
    /// Packets since the last loss.
    current: u64,
    /// Previous intervals, the newest first.
    past: VecDeque<u64>,
}

impl LossIntervals {
    pub(super) fn on_delivered(&mut self) {
        self.current = self.current.saturating_add(1);
    }

    pub(super) fn on_lost(&mut self) {
        if self.current == 0 && !self.past.is_empty() {
            return;
        }
        self.past.push_front(self.current.max(1));
        self.past.truncate(WEIGHTS.len());
        self.current = 0;
    }

    /// Returns the age of the last loss in mean intervals, if there was a loss. The
    /// current interval counts in the mean only if it makes the mean longer.
    pub(super) fn age(&self) -> Option<f64> {
        let n = self.past.len();
        if n == 0 {
            return None;
        }
        let sum = |intervals: &mut dyn Iterator<Item = u64>| -> f64 {
            intervals.zip(WEIGHTS).map(|(i, w)| i as f64 * w).sum()
        };
        let before = sum(&mut self.past.iter().copied());
        let with_current = std::iter::once(self.current).chain(self.past.iter().copied());
        let with_current = sum(&mut with_current.take(n));
        let mean = before.max(with_current) / WEIGHTS[..n].iter().sum::<f64>();
        Some(self.current as f64 / mean)
    }
}

#[cfg(test)]
mod tests;
