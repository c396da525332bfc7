//! Each metric of each system over all seeds.

use std::collections::BTreeSet;

use serde::Serialize;

use super::Outcome;
use crate::measure::metrics;
use crate::measure::run::Value;
use crate::statistics::{Centre, Estimate};

/// Metric of a system over all seeds, as in `summary.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The variant's name.
    pub system: String,
    /// Name in the table of metrics, with `.FLOW` or `.LINK` for a single one.
    pub metric: String,
    /// The metric's unit; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// Mean, or median if the scenario says so.
    pub mean: f64,
    /// 95 % confidence interval; nulls from a single seed.
    pub ci95: [Option<f64>; 2],
    /// Median, if the interval of the mean is uninformative for any system in this
    /// metric: at least half of the mean on either side, for values that are never
    /// negative. Most of these values are near zero and few are large.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<Median>,
    /// Number of seeds with a value.
    pub n: usize,
}

/// Share of the mean above which its interval is uninformative; chosen by us.
const WIDE: f64 = 0.5;

/// Minimum number of seeds for which a median has a 95 % interval.
const SIX: usize = 6;

/// Median of all seeds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Median {
    /// The median.
    pub median: f64,
    /// Its 95 % confidence interval.
    pub ci95: [Option<f64>; 2],
}

impl Outcome<'_> {
    /// Returns every metric of every variant.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut skewed = BTreeSet::new();
        for variant in 0..self.scenario.variants.len() {
            for metric in self.metrics_of(variant) {
                let values = self.values(variant, metric).into_iter().flatten();
                let values: Vec<f64> = values.collect();
                let Some(estimate) = Estimate::of(&values, self.scenario.centre) else {
                    continue;
                };
                let never_negative = values.iter().all(|value| *value >= 0.0);
                if never_negative && estimate.n >= SIX && estimate.low() < WIDE * estimate.centre {
                    skewed.insert(metric);
                }
                let estimate = match never_negative {
                    true => estimate.non_negative(),
                    false => estimate,
                };
                rows.push((self.row(variant, metric, &estimate), values));
            }
        }
        let row = |(row, values): (Row, Vec<f64>)| {
            let median = skewed
                .contains(row.metric.as_str())
                .then(|| median(&values));
            Row {
                median: median.flatten(),
                ..row
            }
        };
        rows.into_iter().map(row).collect()
    }

    /// Returns the values by seed; `None` for a seed without such a value.
    #[must_use]
    pub fn values(&self, variant: usize, metric: &str) -> Vec<Option<f64>> {
        let find = |values: &Vec<Value>| {
            values
                .iter()
                .find(|(name, _)| name == metric)
                .map(|(_, value)| *value)
        };
        self.values[variant]
            .iter()
            .map(|of| of.as_ref().and_then(find))
            .collect()
    }

    /// Returns the names of the metrics that a variant has, in their order.
    pub(super) fn metrics_of(&self, variant: usize) -> Vec<&str> {
        let wanted = &self.scenario.metrics;
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.values[variant].iter().flatten().flatten() {
            let base = name.split_once('.').map_or(name.as_str(), |(base, _)| base);
            let listed = wanted.is_empty() || wanted.iter().any(|w| w == name || w == base);
            if listed && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    fn row(&self, variant: usize, metric: &str, estimate: &Estimate) -> Row {
        Row {
            system: self.scenario.variants[variant].name.clone(),
            metric: metric.to_owned(),
            unit: metrics::find(metric).map_or("1", |m| m.unit),
            mean: estimate.centre,
            ci95: bounds(estimate),
            median: None,
            n: estimate.n,
        }
    }
}

fn median(values: &[f64]) -> Option<Median> {
    let estimate = Estimate::of(values, Centre::Median)?;
    Some(Median {
        median: estimate.centre,
        ci95: bounds(&estimate),
    })
}

/// Returns the interval, with nulls if there is none.
pub fn bounds(estimate: &Estimate) -> [Option<f64>; 2] {
    [
        estimate.interval.map(|i| i.0),
        estimate.interval.map(|i| i.1),
    ]
}
