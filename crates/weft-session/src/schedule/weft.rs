use std::collections::BTreeMap;

use weft_units::{Bytes, Instant, PathId, Rate};

use super::{Assignment, Batch, Class, PathView, SKEW_CAP, Scheduler, fastest_each};

/// Our own scheduler, and the default.
///
/// - Keyframes and retransmissions take the fast path (algorithm 1), packet by
///   packet, so that what it cannot take at once flows over to the next best.
/// - Other packets are shared in proportion to the paths' rates (equation 1),
///   whole frames where that arrives no later than the split would.
/// - A path that would come later than the fast one by more than the skew cap
///   gets no media.
/// - Audio goes on the fast path and, as it is small, again on the second best.
#[derive(Default)]
pub(super) struct Weft {
    /// Bytes that each path is owed (positive) or ahead (negative).
    credit: BTreeMap<PathId, f64>,
}

impl Scheduler for Weft {
    fn assign(&mut self, _now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Vec<Assignment> {
        match batch.class {
            Class::Audio => vec![audio(batch.sizes[0], paths); batch.sizes.len()],
            class if class.has_priority() => fastest_each(batch.sizes, paths),
            _ => self.share(batch.sizes, paths),
        }
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        paths.iter().map(|p| p.rate).sum()
    }
}

fn audio(size: Bytes, paths: &[PathView]) -> Assignment {
    let mut order: Vec<&PathView> = paths.iter().collect();
    order.sort_by_key(|p| (p.completion(size), p.id));
    let copies = order.get(1).map(|p| p.id).into_iter().collect();
    Assignment {
        path: order[0].id,
        copies,
    }
}

impl Weft {
    fn share(&mut self, sizes: &[Bytes], paths: &[PathView]) -> Vec<Assignment> {
        let total: Bytes = sizes.iter().copied().sum();
        let usable = within_skew(paths, sizes[0]);
        if let [only] = usable[..] {
            return vec![Assignment::from(only.id); sizes.len()];
        }
        self.grant(total, &usable);
        let owed = |p: &PathView| self.credit.get(&p.id).copied().unwrap_or(0.0);
        let most_owed = usable
            .iter()
            .copied()
            .max_by(|a, b| owed(a).total_cmp(&owed(b)).then(b.id.cmp(&a.id)));
        let Some(most_owed) = most_owed else {
            return Vec::new();
        };
        let sum: Rate = usable.iter().map(|p| p.rate).sum();
        let share = |p: &PathView| p.rate.as_bps() as f64 / sum.as_bps().max(1) as f64;
        let part = |p: &PathView| Bytes((total.0 as f64 * share(p)) as u64);
        let split_completes = usable.iter().map(|p| p.completion(part(p))).max();
        if Some(most_owed.completion(total)) <= split_completes {
            self.charge(most_owed.id, total);
            return vec![Assignment::from(most_owed.id); sizes.len()];
        }
        self.split(sizes, &usable)
    }

    /// Equation 1: the frame's bytes are owed to the paths by their rates.
    fn grant(&mut self, total: Bytes, usable: &[&PathView]) {
        /// A path's claim on the future is bounded by a few frames, or a path
        /// that was out of use would come back to a burst.
        const FRAMES: f64 = 4.0;
        let sum: Rate = usable.iter().map(|p| p.rate).sum();
        self.credit
            .retain(|id, _| usable.iter().any(|p| p.id == *id));
        for path in usable {
            let share = path.rate.as_bps() as f64 / sum.as_bps().max(1) as f64;
            let bound = total.0 as f64 * FRAMES;
            let credit = self.credit.entry(path.id).or_insert(0.0);
            *credit = (*credit + total.0 as f64 * share).clamp(-bound, bound);
        }
    }

    fn charge(&mut self, path: PathId, size: Bytes) {
        *self.credit.entry(path).or_insert(0.0) -= size.0 as f64;
    }

    /// Consecutive runs of packets, each to the path that is owed most.
    fn split(&mut self, sizes: &[Bytes], usable: &[&PathView]) -> Vec<Assignment> {
        let mut left: Vec<(PathId, f64)> = usable
            .iter()
            .map(|p| (p.id, self.credit[&p.id].max(0.0)))
            .collect();
        left.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let mut run = 0;
        let mut out = Vec::with_capacity(sizes.len());
        for &size in sizes {
            if left[run].1 <= 0.0 && run + 1 < left.len() {
                run += 1;
            }
            left[run].1 -= size.0 as f64;
            self.charge(left[run].0, size);
            out.push(Assignment::from(left[run].0));
        }
        out
    }
}

fn within_skew(paths: &[PathView], size: Bytes) -> Vec<&PathView> {
    let fastest = paths
        .iter()
        .map(|p| p.completion(size))
        .min()
        .unwrap_or_default();
    paths
        .iter()
        .filter(|p| p.completion(size) <= fastest + SKEW_CAP)
        .collect()
}
