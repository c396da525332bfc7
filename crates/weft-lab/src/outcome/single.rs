//! Counts the runs in which a system is worse than the best single link.

use serde::Serialize;

use super::Outcome;
use crate::measure::metrics::{self, Better};
use crate::scenario::{SystemKind, Variant};

/// Relative difference from the best value above which a value counts as worse; any
/// difference counts if the best value is zero. Chosen by us: smaller differences are not
/// noticed.
pub const MARGIN: f64 = 0.05;

/// Metrics of pictures and sound, without those of transport: repair packets or a share
/// of capacity are neither better nor worse for the users.
const NOTICED: [&str; 22] = [
    "goodput_mbps",
    "fps",
    "fps_seen",
    "fps_norm",
    "freeze_s",
    "freeze_count",
    "freeze_ms_mean",
    "e2e_ms_mean",
    "e2e_ms_p95",
    "e2e_ms_p99",
    "e2e_ms_worst_s",
    "frames_dropped",
    "ifd_ms",
    "qp",
    "qp_norm",
    "psnr_db",
    "ssim",
    "sound_loss",
    "sound_ms_mean",
    "sound_gap_ms",
    "sound_gaps",
    "height_px",
];

/// Metric of a system over several links, compared with the calls over one link each with
/// the same seeds. The best of them is selected for every seed and metric, because it
/// cannot be known beforehand.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Worse {
    /// The variant's name.
    pub system: String,
    /// Name in the table of metrics, with `.FLOW` or `.LINK` for a single one.
    pub metric: String,
    /// Number of runs that were worse than the best single link by more than [`MARGIN`].
    pub worse: usize,
    /// Number of comparable runs.
    pub n: usize,
}

impl Outcome<'_> {
    /// Returns the metrics of every system over several links; empty if no system, or
    /// every system, uses a single link.
    #[must_use]
    pub fn worse_than_single(&self) -> Vec<Worse> {
        let variants = &self.scenario().variants;
        let mut found = Vec::new();
        for (here, variant) in variants.iter().enumerate().filter(|(_, v)| paths(v) > 1) {
            let alone = self.singles(&variant.case);
            if alone.is_empty() {
                continue;
            }
            for metric in self.metrics_of(here) {
                found.extend(self.worse(here, &alone, metric));
            }
        }
        found
    }

    /// Returns the calls over one link each with these varied values, if there are calls
    /// over several links. The floor of a link is not a call.
    pub(super) fn singles(&self, case: &[(String, String)]) -> Vec<usize> {
        let variants = self.scenario().variants.iter().enumerate();
        let variants = variants.filter(|(_, v)| v.case == case);
        if !variants.clone().any(|(_, v)| paths(v) > 1) {
            return Vec::new();
        }
        let alone = |v: &Variant| paths(v) == 1 && is_call(v);
        variants
            .filter(|(_, v)| alone(v))
            .map(|(at, _)| at)
            .collect()
    }

    fn worse(&self, here: usize, alone: &[usize], metric: &str) -> Option<Worse> {
        // Metrics of single flows and links are not counted either.
        let better = metrics::find(metric)
            .filter(|_| NOTICED.contains(&metric))?
            .better;
        let singles: Vec<Vec<Option<f64>>> =
            alone.iter().map(|&v| self.values(v, metric)).collect();
        let (mut worse, mut n) = (0, 0);
        for (seed, value) in self.values(here, metric).into_iter().enumerate() {
            let others = singles.iter().filter_map(|values| values[seed]);
            let best = match better {
                Better::Higher => others.max_by(f64::total_cmp),
                Better::Lower => others.min_by(f64::total_cmp),
                Better::Neither => None,
            };
            if let (Some(value), Some(best)) = (value, best) {
                n += 1;
                worse += usize::from(is_worse(value, best, better));
            }
        }
        (n > 0).then(|| Worse {
            system: self.scenario().variants[here].name.clone(),
            metric: metric.to_owned(),
            worse,
            n,
        })
    }
}

fn is_worse(value: f64, best: f64, better: Better) -> bool {
    let behind = match better {
        Better::Higher => best - value,
        Better::Lower => value - best,
        Better::Neither => 0.0,
    };
    behind > MARGIN * best.abs()
}

pub(super) fn is_call(variant: &Variant) -> bool {
    matches!(variant.system.kind, SystemKind::Session(_))
}

/// Returns the largest number of paths of a flow under test.
pub(super) fn paths(variant: &Variant) -> usize {
    let flows = variant.focus.iter();
    let paths = flows.map(|&flow| variant.setup.flows[flow].routes.len());
    paths.max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
