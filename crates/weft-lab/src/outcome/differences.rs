//! Differences of systems from the baseline, seed by seed. The baseline is configured, or
//! the best call over one link.

use serde::Serialize;

use super::Outcome;
use super::rows::bounds;
use crate::measure::metrics::{self, Better};
use crate::scenario::Variant;
use crate::statistics::{Estimate, paired};

/// Metric that selects the best call over one link if a metric has no direction.
const CARRIED: &str = "goodput_mbps";

/// Difference of a system from the baseline, seed by seed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// The variant's name.
    pub system: String,
    /// The baseline's name.
    pub baseline: String,
    /// Name in the table of metrics, with `.FLOW` or `.LINK` for a single one.
    pub metric: String,
    /// The metric's unit; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// Mean (or median) of the differences.
    pub mean: f64,
    /// 95 % confidence interval.
    pub ci95: [Option<f64>; 2],
    /// `better`, `worse`, `same` if no pair differs, or `unclear` if the interval
    /// contains zero.
    pub verdict: &'static str,
    /// Number of seeds that both have; each gives one difference.
    pub n: usize,
}

impl Outcome<'_> {
    /// Compares every system with the baseline of equal varied values.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let mut found = Vec::new();
        for (here, variant) in self.scenario.variants.iter().enumerate() {
            for metric in self.metrics_of(here) {
                let there = self.baseline(variant, metric);
                let there = there.filter(|&there| there != here);
                found.extend(there.and_then(|there| self.difference(here, there, metric)));
            }
        }
        found
    }

    /// Returns the baseline of this variant: the configured system; otherwise the call
    /// over one link with the best centre of all seeds (by its rate if the metric has no
    /// direction); otherwise the first system.
    pub(super) fn baseline(&self, variant: &Variant, metric: &str) -> Option<usize> {
        let variants = &self.scenario.variants;
        let same_case = |v: &&Variant| v.case == variant.case;
        if let Some(told) = &self.scenario.baseline {
            let is = |v: &Variant| v.system.name == *told && same_case(&v);
            return variants.iter().position(is);
        }
        let singles = self.singles(&variant.case);
        let best_by = |metric: &str| {
            let better = metrics::find(metric)?.better;
            let centres = singles.iter().filter_map(|&at| {
                let values: Vec<f64> = self.values(at, metric).into_iter().flatten().collect();
                Some((at, Estimate::of(&values, self.scenario.centre)?.centre))
            });
            let by = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
            match better {
                Better::Higher => centres.max_by(by),
                Better::Lower => centres.min_by(by),
                Better::Neither => None,
            }
        };
        let best = best_by(metric).or_else(|| best_by(CARRIED));
        let best = best.map(|(at, _)| at).or(singles.first().copied());
        best.or_else(|| variants.iter().position(|v| same_case(&v)))
    }

    fn difference(&self, here: usize, there: usize, metric: &str) -> Option<Difference> {
        let centre = self.scenario.centre;
        let estimate = paired(
            &self.values(here, metric),
            &self.values(there, metric),
            centre,
        )?;
        let about = metrics::find(metric)?;
        let variants = &self.scenario.variants;
        Some(Difference {
            system: variants[here].name.clone(),
            baseline: variants[there].name.clone(),
            metric: metric.to_owned(),
            unit: about.unit,
            mean: estimate.centre,
            ci95: bounds(&estimate),
            verdict: verdict(&estimate, about.better),
            n: estimate.n,
        })
    }
}

/// Returns the verdict on a mean of differences.
pub(crate) fn verdict(estimate: &Estimate, better: Better) -> &'static str {
    let improves = match better {
        Better::Higher => Some(estimate.low() > 0.0),
        Better::Lower => Some(estimate.high() < 0.0),
        Better::Neither => None,
    };
    let certain = estimate
        .interval
        .is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    match (certain, improves) {
        _ if estimate.interval == Some((0.0, 0.0)) => "same",
        (true, Some(true)) => "better",
        (true, Some(false)) => "worse",
        (true, None) => "different",
        (false, _) => "unclear",
    }
}
