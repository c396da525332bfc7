//! Sets of segment numbers as ranges.

/// Ranges `[from, to)` in ascending order, with gaps of at least one number.
#[derive(Clone, Default, Debug)]
pub(crate) struct Ranges {
    list: Vec<(u32, u32)>,
}

impl Ranges {
    /// Adds `[from, to)`; calls `added` for each new part, in ascending order.
    #[inline]
    pub fn insert(&mut self, from: u32, to: u32, mut added: impl FnMut(u32, u32)) {
        if from >= to {
            return;
        }
        // First range that touches or follows, and first range beyond.
        let first = self.list.partition_point(|r| r.1 < from);
        let beyond = first + self.list[first..].partition_point(|r| r.0 <= to);
        let mut next = from;
        for &(a, b) in &self.list[first..beyond] {
            if next < a {
                added(next, a);
            }
            next = next.max(b);
        }
        if next < to {
            added(next, to);
        }
        if first == beyond {
            self.list.insert(first, (from, to));
            return;
        }
        let joined = (
            from.min(self.list[first].0),
            to.max(self.list[beyond - 1].1),
        );
        self.list[first] = joined;
        self.list.drain(first + 1..beyond);
    }

    /// Removes everything below `limit`.
    pub fn remove_below(&mut self, limit: u32) {
        let gone = self.list.partition_point(|r| r.1 <= limit);
        self.list.drain(..gone);
        if let Some(first) = self.list.first_mut() {
            first.0 = first.0.max(limit);
        }
    }

    /// Returns the range that contains `number`.
    pub fn find(&self, number: u32) -> Option<(u32, u32)> {
        let index = self.list.partition_point(|r| r.1 <= number);
        self.list.get(index).copied().filter(|r| r.0 <= number)
    }

    /// Returns the number of elements.
    pub fn total(&self) -> u32 {
        self.list.iter().map(|r| r.1 - r.0).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

#[cfg(test)]
mod tests;
