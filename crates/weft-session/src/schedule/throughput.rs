use weft_units::{Instant, PathId, Rate};

use super::shares::{Shares, in_runs};
use super::{Assignment, Assignments, Batch, PathView, Scheduler};

/// Packets in proportion to what was measured to arrive on each path.
///
/// Source: `MuSher` (Saha et al. 2019), which section 5 of Converge
/// calls M-TPUT: packets in proportion to each path's throughput, whatever
/// they are. A path of which nothing is measured yet counts with its target
/// rate.
#[derive(Default)]
pub(super) struct Throughput {
    shares: Shares,
}

impl Scheduler for Throughput {
    fn assign(&mut self, _now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        let weight = |p: &PathView| (p.id, p.delivered.unwrap_or(p.rate).as_bps() as f64);
        let weights: Vec<(PathId, f64)> = paths.iter().map(weight).collect();
        let shares = self.shares.divide(batch.sizes.len(), &weights);
        in_runs(&shares).map(Assignment::from).collect()
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        paths.iter().map(|p| p.rate).sum()
    }
}
