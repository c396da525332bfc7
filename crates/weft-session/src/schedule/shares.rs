use std::collections::BTreeMap;

use weft_units::PathId;

/// Divides whole packets among paths in proportion to weights.
///
/// Rounding errors are carried over to the next call, so that the shares are right over
/// time even for small frames.
#[derive(Default)]
pub(super) struct Shares {
    owed: BTreeMap<PathId, f64>,
}

impl Shares {
    /// Returns how many of `packets` each path gets; the sum is `packets`. `weights` are
    /// in ascending order of id and not empty; if none is positive, all count equally.
    pub fn divide(&mut self, packets: usize, weights: &[(PathId, f64)]) -> Vec<(PathId, usize)> {
        if !self.owed.keys().eq(weights.iter().map(|(id, _)| id)) {
            self.owed = weights.iter().map(|(id, _)| (*id, 0.0)).collect();
        }
        let sum: f64 = weights.iter().map(|(_, weight)| weight.max(0.0)).sum();
        let part = |weight: f64| match sum > 0.0 {
            true => weight.max(0.0) / sum,
            false => 1.0 / weights.len() as f64,
        };
        let mut left = packets;
        let mut shares = Vec::with_capacity(weights.len());
        for (id, weight) in weights {
            let owed = self.owed.entry(*id).or_default();
            *owed += part(*weight) * packets as f64;
            let whole = (owed.max(0.0) as usize).min(left);
            left -= whole;
            *owed -= whole as f64;
            shares.push((*id, whole));
        }
        for _ in 0..left {
            let most_owed = self.owed.iter_mut().reduce(|a, b| match *b.1 > *a.1 {
                true => b,
                false => a,
            });
            let Some((id, owed)) = most_owed else { break };
            *owed -= 1.0;
            if let Some(share) = shares.iter_mut().find(|(path, _)| path == id) {
                share.1 += 1;
            }
        }
        shares
    }
}

/// Assigns consecutive packets to the paths, in runs as long as each path's share.
pub(super) fn in_runs(shares: &[(PathId, usize)]) -> impl Iterator<Item = PathId> {
    shares
        .iter()
        .flat_map(|(id, count)| std::iter::repeat_n(*id, *count))
}
