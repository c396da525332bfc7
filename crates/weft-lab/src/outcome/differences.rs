//! What systems change against the baseline, seed by seed.

use serde::Serialize;

use super::Outcome;
use super::rows::bounds;
use crate::measure::metrics::{self, Better};
use crate::scenario::Variant;
use crate::statistics::paired;

/// What a system changes against the baseline, seed by seed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// The variant's name.
    pub system: String,
    /// The baseline's name.
    pub baseline: String,
    /// Its name in the table of metrics, with `.FLOW` or `.LINK` where it is of one.
    pub metric: String,
    /// The metric's unit; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// Mean (or median) of the differences.
    pub mean: f64,
    /// 95 % confidence interval.
    pub ci95: [Option<f64>; 2],
    /// `better`, `worse`, `same` when no pair differs, or `unclear` when the
    /// interval holds zero.
    pub verdict: &'static str,
    /// Pairs.
    pub n: usize,
}

impl Outcome<'_> {
    /// Every system against the baseline under the same varied values.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let Some(baseline) = &self.scenario.baseline else {
            return Vec::new();
        };
        let variants = &self.scenario.variants;
        let mut found = Vec::new();
        for (here, variant) in variants.iter().enumerate() {
            let same = |v: &Variant| v.system.name == *baseline && v.case == variant.case;
            let there = variants.iter().position(same);
            let Some(there) = there.filter(|&there| there != here) else {
                continue;
            };
            for metric in self.metrics_of(here) {
                found.extend(self.difference(here, there, metric));
            }
        }
        found
    }

    fn difference(&self, here: usize, there: usize, metric: &str) -> Option<Difference> {
        let centre = self.scenario.centre;
        let estimate = paired(
            &self.values(here, metric),
            &self.values(there, metric),
            centre,
        )?;
        let about = metrics::find(metric)?;
        let improves = match about.better {
            Better::Higher => Some(estimate.low() > 0.0),
            Better::Lower => Some(estimate.high() < 0.0),
            Better::Neither => None,
        };
        let certain = estimate
            .interval
            .is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        let verdict = match (certain, improves) {
            _ if estimate.interval == Some((0.0, 0.0)) => "same",
            (true, Some(true)) => "better",
            (true, Some(false)) => "worse",
            (true, None) => "different",
            (false, _) => "unclear",
        };
        let variants = &self.scenario.variants;
        Some(Difference {
            system: variants[here].name.clone(),
            baseline: variants[there].name.clone(),
            metric: metric.to_owned(),
            unit: about.unit,
            mean: estimate.centre,
            ci95: bounds(&estimate),
            verdict,
            n: estimate.n,
        })
    }
}
