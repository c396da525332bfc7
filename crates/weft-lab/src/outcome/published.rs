//! Published values compared with the results.

use serde::Serialize;

use super::Outcome;
use super::rows::bounds;
use crate::scenario::{By, Published};
use crate::statistics::Estimate;

/// Published value with our result.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// Name of the variant, or of its system if all variants are meant.
    pub system: String,
    /// Name in the table of metrics, with `.FLOW` or `.LINK` for a single one.
    pub metric: String,
    /// Source of the value.
    pub source: String,
    /// Published value; `None` for a range or a bound.
    pub published: Option<f64>,
    /// Range that agrees with it; `None` for an open end.
    pub agrees: [Option<f64>; 2],
    /// System that the values are relative to.
    pub relative_to: Option<String>,
    /// Metric that they are relative to, if it is another one.
    pub relative_metric: Option<String>,
    /// Kind of comparison.
    pub by: By,
    /// Our result.
    pub here: Option<f64>,
    /// 95 % confidence interval of our result; nulls from a single seed.
    pub ci95: [Option<f64>; 2],
    /// `agrees`; `unclear` if the interval is wider than the range or only touches it;
    /// `higher`, `lower`, or `not measured`.
    pub verdict: &'static str,
}

impl Outcome<'_> {
    /// Returns the published values with the results; none if they apply to other
    /// variants.
    #[must_use]
    pub fn compared(&self) -> Vec<Compared> {
        if !self.scenario.is_as_published {
            return Vec::new();
        }
        let here = |entry: &&Published| {
            let variants = self.scenario.variants.iter();
            let mut names = variants.flat_map(|v| [v.name.as_str(), v.system.name.as_str()]);
            names.any(|name| name == entry.system)
        };
        self.scenario
            .published
            .iter()
            .filter(here)
            .map(|entry| self.compare(entry))
            .collect()
    }

    fn compare(&self, entry: &Published) -> Compared {
        let named = |name: &str| {
            let variants = &self.scenario.variants;
            let full = variants.iter().position(|v| v.name == name);
            full.or_else(|| variants.iter().position(|v| v.system.name == name))
        };
        let mut values = named(&entry.system).map_or(Vec::new(), |v| self.values(v, &entry.metric));
        if entry.relative_to.is_some() || entry.relative_metric.is_some() {
            let other = entry.relative_to.as_deref().unwrap_or(&entry.system);
            let metric = entry.relative_metric.as_deref().unwrap_or(&entry.metric);
            let there = named(other).map_or(Vec::new(), |v| self.values(v, metric));
            let held = |(a, b): (Option<f64>, Option<f64>)| match entry.by {
                By::Ratio => Some(a? / b.filter(|b| *b != 0.0)?),
                By::Difference => Some(a? - b?),
            };
            values = values.into_iter().zip(there).map(held).collect();
        }
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let estimate = Estimate::of(&values, self.scenario.centre);
        Compared {
            system: entry.system.clone(),
            metric: entry.metric.clone(),
            source: entry.source.clone(),
            published: entry.value,
            agrees: [entry.low, entry.high].map(|end| Some(end).filter(|end| end.is_finite())),
            relative_to: entry.relative_to.clone(),
            relative_metric: entry.relative_metric.clone(),
            by: entry.by,
            here: estimate.map(|e| e.centre),
            ci95: estimate.map_or([None, None], |e| bounds(&e)),
            verdict: estimate.map_or("not measured", |e| verdict(&e, entry.low, entry.high)),
        }
    }
}

/// An interval that is wider than the range cannot show that the value is within the
/// range.
pub fn verdict(here: &Estimate, low: f64, high: f64) -> &'static str {
    let is_wide = here.high() - here.low() > high - low;
    if (low..=high).contains(&here.centre) && !is_wide {
        "agrees"
    } else if here.low() <= high && here.high() >= low {
        "unclear"
    } else if here.centre > high {
        "higher"
    } else {
        "lower"
    }
}
