//! Plan of the runs: each variant with each seed with all flows, and with some flows
//! alone if a metric needs that.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::measure::metrics::{self, RequiredRuns};
use crate::measure::run::competition;
use crate::names::file_name;
use crate::scenario::{Scenario, Variant};
use weft_experiment::Setup;
use weft_units::Rate;

/// Flows that take part in a run.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Participants {
    /// Every flow of the scenario.
    All,
    /// The flows with these positions, alone on the links.
    Only(Vec<usize>),
}

/// A run to execute.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    /// Position in [`Scenario::variants`].
    pub variant: usize,
    /// Seed from 1; it determines all randomness of the run.
    pub seed: u64,
    /// Flows that take part.
    pub participants: Participants,
}

/// Runs of a scenario, each once: seed by seed, so that all systems have the same number
/// after a stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Tasks in the order in which they start.
    pub tasks: Vec<Task>,
}

impl Plan {
    /// Returns all runs that the scenario requires.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Plan {
        let variants = scenario.variants.iter();
        let groups: Vec<Vec<Participants>> = variants
            .map(|of| participant_groups(scenario, of))
            .collect();
        let seeds = 1..=u64::from(scenario.seeds);
        let tasks = seeds.flat_map(|seed| {
            let variants = groups.iter().enumerate();
            variants.flat_map(move |(variant, groups)| {
                groups.iter().map(move |participants| Task {
                    variant,
                    seed,
                    participants: participants.clone(),
                })
            })
        });
        Plan {
            tasks: tasks.collect(),
        }
    }
}

/// Returns the name of a task's files.
#[must_use]
pub fn task_name(scenario: &Scenario, task: &Task) -> String {
    let system = file_name(&scenario.variants[task.variant].name);
    match &task.participants {
        Participants::All => format!("{system}.seed{}", task.seed),
        Participants::Only(flows) => {
            let flows: Vec<String> = flows.iter().map(ToString::to_string).collect();
            format!("{system}.alone{}.seed{}", flows.join("-"), task.seed)
        }
    }
}

/// Returns a hash of all inputs of the runs, including trace files.
#[must_use]
pub fn fingerprint(scenario: &Scenario) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{:?}", scenario.variants).hash(&mut hasher);
    hasher.finish()
}

/// Returns the groups of flows in the runs of a variant, all flows first.
pub fn participant_groups(scenario: &Scenario, variant: &Variant) -> Vec<Participants> {
    let mut groups = vec![Participants::All];
    for name in &scenario.metrics {
        let known = |flows: &Vec<usize>| demand(&variant.setup, name, flows).is_some();
        let victim = victim(variant, name).filter(|flows| !known(flows));
        let participants = victim.map(Participants::Only);
        groups.extend(participants.filter(|participants| !groups.contains(participants)));
    }
    groups
}

/// Returns the groups of flows that some metric compares with themselves alone, each
/// group once.
pub fn victims(scenario: &Scenario, variant: &Variant) -> Vec<Vec<usize>> {
    let mut victims: Vec<Vec<usize>> = Vec::new();
    for name in &scenario.metrics {
        let victim = victim(variant, name);
        victims.extend(victim.filter(|flows| !victims.contains(flows)));
    }
    victims
}

/// Returns the rate of these flows without competition, Mbit/s, if the metric of this
/// name needs only that and the scenario defines it for all of them.
#[must_use]
pub fn demand(setup: &Setup, name: &str, flows: &[usize]) -> Option<f64> {
    let demands = flows.iter().map(|&flow| setup.flows[flow].demand);
    let sum = || demands.map(|d| d.map(Rate::as_mbps)).sum();
    metrics::harmed(name).is_none().then(sum).flatten()
}

/// Returns the flows that the metric of this name compares with themselves alone; `None`
/// if it does not, or they have no competition.
#[must_use]
pub fn victim(variant: &Variant, name: &str) -> Option<Vec<usize>> {
    if metrics::find(name)?.required_runs == RequiredRuns::AllFlows {
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

impl Participants {
    /// Returns the setup with only the participating flows, and the positions of the
    /// flows under test among them.
    #[must_use]
    pub fn of(&self, setup: &Setup, focus: &[usize]) -> (Setup, Vec<usize>) {
        match self {
            Participants::All => (setup.clone(), focus.to_vec()),
            Participants::Only(flows) => {
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
