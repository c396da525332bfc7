//! Runs of everybody beside those of some flows alone.

use std::collections::BTreeMap;

use super::Outcome;
use crate::measure::metrics::{self, Sight, against_alone};
use crate::measure::run::Value;
use crate::run::{Cast, Run, victim};

/// What there is so far, by variant and seed.
#[derive(Debug, Default)]
pub struct Alone(BTreeMap<(usize, u64), Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// With everybody: the rates of flows while others compete, Mbit/s.
    together: Vec<(Vec<usize>, f64)>,
    /// Flows alone: their rates in the same time, and their metrics.
    alone: Vec<(Vec<usize>, f64, Vec<Value>)>,
}

impl Alone {
    /// Keeps what a comparison needs.
    pub fn add(&mut self, run: &Run) {
        let kept = self.0.entry((run.task.variant, run.task.seed));
        match &run.task.cast {
            Cast::Everybody if run.competing.is_empty() => {}
            Cast::Everybody => kept.or_default().together.clone_from(&run.competing),
            Cast::Alone(_) => {
                let rates = run.competing.iter().cloned();
                let alone = rates.map(|(flows, mbps)| (flows, mbps, run.values.clone()));
                kept.or_default().alone.extend(alone);
            }
        }
    }
}

impl Outcome<'_> {
    /// Adds the metrics that compare both, where both are there.
    pub(super) fn compare_with_alone(&mut self, variant: usize, seed: u64) {
        let Some(kept) = self.alone.0.get(&(variant, seed)) else {
            return;
        };
        let Some(values) = self.values[variant][seed as usize - 1].as_mut() else {
            return;
        };
        for name in &self.scenario.metrics {
            let Some(flows) = victim(&self.scenario.variants[variant], name) else {
                continue;
            };
            let is_known = values.iter().any(|(known, _)| known == name);
            let mut together = kept.together.iter().filter(|(of, _)| *of == flows);
            let mut alone = kept.alone.iter().filter(|(of, ..)| *of == flows);
            let (Some(together), Some(alone), false) = (together.next(), alone.next(), is_known)
            else {
                continue;
            };
            let suffix = name.find('.').map_or("", |at| &name[at..]);
            let together = Sight {
                mbps: together.1,
                values,
                suffix,
            };
            let alone = Sight {
                mbps: alone.1,
                values: &alone.2,
                suffix: "",
            };
            let value = against_alone(name, &together, &alone);
            values.extend(value.filter(|v| v.is_finite()).map(|v| (name.clone(), v)));
        }
        values.sort_by_key(|(name, _)| metrics::position(name));
    }
}
