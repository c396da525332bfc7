use std::collections::VecDeque;

/// Weights of the intervals between losses, the newest first (RFC 5348
/// section 5.4, `n` = 8).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// `loss_int`: how many packets there are from one loss to the next, as RFC
/// 5348 section 5.4 averages them. Packets lost in a row are one loss.
#[derive(Debug, Default)]
pub(super) struct LossIntervals {
    /// Packets since the last loss.
    current: u64,
    /// The intervals before, the newest first.
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

    /// How many mean intervals ago the last loss is, if there was any. The
    /// interval under way counts in the mean where it makes it longer.
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
