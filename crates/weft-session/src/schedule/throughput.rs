use weft_units::{Instant, PathId, Rate};

use super::shares::{Shares, in_runs};
use super::{Assignment, Assignments, Batch, PathView, Scheduler};

/// Shares packets in proportion to the measured arrival rate of each path.
///
/// Source: `MuSher` (Saha et al. 2019), which section 5 of Converge calls M-TPUT: packets
/// of any kind are divided in proportion to each path's throughput. A path without a
/// measurement counts with its target rate.
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
