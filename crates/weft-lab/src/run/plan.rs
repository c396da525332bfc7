//! What has to be run: each variant with each seed by everybody, and by some
//! flows alone where a metric compares with that.

use crate::measure::metrics::{self, Casts};
use crate::measure::run::competition;
use crate::scenario::{Scenario, Variant};
use weft_experiment::Setup;
use weft_units::Rate;

/// Who takes part in a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Cast {
    /// Every flow of the scenario.
    Everybody,
    /// The flows with these positions, alone on the links.
    Alone(Vec<usize>),
}

/// A run to make.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Position in [`Scenario::variants`].
    pub variant: usize,
    /// From 1; it decides all randomness of the run.
    pub seed: u64,
    /// Who takes part.
    pub cast: Cast,
}

/// The runs of a scenario, each once: seed by seed, so that a stop leaves all
/// systems with as many.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// In the order in which they are begun.
    pub tasks: Vec<Task>,
}

impl Plan {
    /// Everything that the scenario asks for.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Plan {
        let variants = scenario.variants.iter();
        let casts: Vec<Vec<Cast>> = variants.map(|of| casts(scenario, of)).collect();
        let seeds = 1..=u64::from(scenario.seeds);
        let tasks = seeds.flat_map(|seed| {
            let variants = casts.iter().enumerate();
            variants.flat_map(move |(variant, casts)| {
                casts.iter().map(move |cast| Task {
                    variant,
                    seed,
                    cast: cast.clone(),
                })
            })
        });
        Plan {
            tasks: tasks.collect(),
        }
    }
}

/// Who takes part in the runs of a variant, everybody first.
pub fn casts(scenario: &Scenario, variant: &Variant) -> Vec<Cast> {
    let mut casts = vec![Cast::Everybody];
    for name in &scenario.metrics {
        let known = |flows: &Vec<usize>| demand(&variant.setup, name, flows).is_some();
        let victim = victim(variant, name).filter(|flows| !known(flows));
        let cast = victim.map(Cast::Alone);
        casts.extend(cast.filter(|cast| !casts.contains(cast)));
    }
    casts
}

/// The flows that some metric compares with themselves alone, each group once.
pub fn victims(scenario: &Scenario, variant: &Variant) -> Vec<Vec<usize>> {
    let mut victims: Vec<Vec<usize>> = Vec::new();
    for name in &scenario.metrics {
        let victim = victim(variant, name);
        victims.extend(victim.filter(|flows| !victims.contains(flows)));
    }
    victims
}

/// What these flows take alone together, Mbit/s, where the metric of this name
/// needs no more to be known and the scenario says it of all of them.
#[must_use]
pub fn demand(setup: &Setup, name: &str, flows: &[usize]) -> Option<f64> {
    let demands = flows.iter().map(|&flow| setup.flows[flow].demand);
    let sum = || demands.map(|d| d.map(Rate::as_mbps)).sum();
    metrics::harmed(name).is_none().then(sum).flatten()
}

/// The flows that the metric of this name compares with themselves alone;
/// `None` where it does not, or nobody competes with them.
#[must_use]
pub fn victim(variant: &Variant, name: &str) -> Option<Vec<usize>> {
    if metrics::find(name)?.casts == Casts::Everybody {
        return None;
    }
    let setup = &variant.setup;
    let flows = match name.split_once('.') {
        Some((_, owner)) => vec![setup.flows.iter().position(|flow| flow.name == owner)?],
        None => variant.focus.clone(),
    };
    let window = competition(setup, &flows, (setup.measure_from, setup.duration));
    window.is_some().then_some(flows)
}

impl Cast {
    /// The set-up with those who take part, and the positions among them of
    /// the flows under test.
    #[must_use]
    pub fn of(&self, setup: &Setup, focus: &[usize]) -> (Setup, Vec<usize>) {
        match self {
            Cast::Everybody => (setup.clone(), focus.to_vec()),
            Cast::Alone(flows) => {
                let alone = flows.iter().map(|&flow| setup.flows[flow].clone());
                let setup = Setup {
                    flows: alone.collect(),
                    ..setup.clone()
                };
                (setup, (0..flows.len()).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests;
