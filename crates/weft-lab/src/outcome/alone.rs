//! Compares runs with all flows and runs of some flows alone.

use std::collections::BTreeMap;

use crate::measure::metrics::{self, RunFigures, against_alone};
use crate::measure::run::Value;
use crate::run::{Participants, Run, demand, victim};
use crate::scenario::Scenario;

/// Runs so far, by variant and seed.
#[derive(Debug, Default)]
pub struct Alone(BTreeMap<(usize, u64), Kept>);

#[derive(Debug, Default)]
struct Kept {
    /// With all flows: the rates of flows while others compete, in Mbit/s.
    together: Vec<(Vec<usize>, f64)>,
    /// Flows alone: their rates in the same time, and their metrics.
    alone: Vec<(Vec<usize>, f64, Vec<Value>)>,
}

impl Alone {
    /// Stores the data that a comparison needs.
    pub fn add(&mut self, run: &Run) {
        let kept = self.0.entry((run.task.variant, run.task.seed));
        match &run.task.participants {
            Participants::All if run.competing.is_empty() => {}
            Participants::All => kept.or_default().together.clone_from(&run.competing),
            Participants::Only(_) => {
                let rates = run.competing.iter().cloned();
                let alone = rates.map(|(flows, mbps)| (flows, mbps, run.values.clone()));
                kept.or_default().alone.extend(alone);
            }
        }
    }

    /// Adds the metrics that compare both kinds of runs to the values with all flows, if
    /// both runs exist.
    pub fn compare(&self, scenario: &Scenario, of: (usize, u64), values: &mut Vec<Value>) {
        let Some(kept) = self.0.get(&of) else {
            return;
        };
        for name in &scenario.metrics {
            let variant = &scenario.variants[of.0];
            let Some(flows) = victim(variant, name) else {
                continue;
            };
            let is_known = values.iter().any(|(known, _)| known == name);
            let mut together = kept.together.iter().filter(|(of, _)| *of == flows);
            let alone = kept.alone.iter().find(|(of, ..)| *of == flows);
            let alone = alone.map(|(_, mbps, values)| (*mbps, values.as_slice()));
            let said = demand(&variant.setup, name, &flows).map(|mbps| (mbps, &[][..]));
            let (Some(together), Some(alone), false) = (together.next(), said.or(alone), is_known)
            else {
                continue;
            };
            let suffix = name.find('.').map_or("", |at| &name[at..]);
            let together = RunFigures {
                mbps: together.1,
                values,
                suffix,
            };
            let alone = RunFigures {
                mbps: alone.0,
                values: alone.1,
                suffix: "",
            };
            let value = against_alone(name, &together, &alone);
            values.extend(value.filter(|v| v.is_finite()).map(|v| (name.clone(), v)));
        }
        // In the scenario's order, regardless of which run finished first.
        let named = |name: &str| scenario.metrics.iter().position(|metric| metric == name);
        let is_compared = |name: &str| victim(&scenario.variants[of.0], name).is_some();
        values.sort_by_key(|(name, _)| {
            let place = is_compared(name).then(|| named(name)).flatten();
            (metrics::position(name), place)
        });
    }
}
