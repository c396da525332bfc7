//! Each metric of each system over all seeds.

use serde::Serialize;

use super::Outcome;
use crate::measure::metrics;
use crate::measure::run::Value;
use crate::statistics::Estimate;

/// A metric of a system over all seeds, as in `summary.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The variant's name.
    pub system: String,
    /// Its name in the table of metrics, with `.FLOW` or `.LINK` where it is of one.
    pub metric: String,
    /// The metric's unit; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// Mean, or median where the scenario says so.
    pub mean: f64,
    /// 95 % confidence interval; nulls from a single seed.
    pub ci95: [Option<f64>; 2],
    /// Seeds that have a value.
    pub n: usize,
}

impl Outcome<'_> {
    /// Every metric of every variant.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let variants = 0..self.scenario.variants.len();
        let rows = variants.flat_map(|variant| {
            let metrics = self.metrics_of(variant).into_iter();
            metrics.filter_map(move |metric| self.row(variant, metric))
        });
        rows.collect()
    }

    /// Values by seed; none where a seed has no such value.
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

    /// Names of the metrics that a variant has, in their order.
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

    fn row(&self, variant: usize, metric: &str) -> Option<Row> {
        let values: Vec<f64> = self.values(variant, metric).into_iter().flatten().collect();
        let never_negative = values.iter().all(|value| *value >= 0.0);
        let estimate = Estimate::of(&values, self.scenario.centre)?;
        let estimate = if never_negative {
            estimate.non_negative()
        } else {
            estimate
        };
        Some(Row {
            system: self.scenario.variants[variant].name.clone(),
            metric: metric.to_owned(),
            unit: metrics::find(metric).map_or("1", |m| m.unit),
            mean: estimate.centre,
            ci95: bounds(&estimate),
            n: estimate.n,
        })
    }
}

/// The interval, with nulls where there is none.
pub fn bounds(estimate: &Estimate) -> [Option<f64>; 2] {
    [
        estimate.interval.map(|i| i.0),
        estimate.interval.map(|i| i.1),
    ]
}
