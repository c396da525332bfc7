//! All runs of a scenario together: estimates, differences, what was
//! published beside what came out, and the self-check.

mod alone;
mod cdf;
mod checks;
mod differences;
mod disagreements;
mod profiles;
mod published;
mod rows;
mod single;

use std::collections::BTreeMap;

use crate::engine::EngineKind;
use crate::measure::check::Check;
use crate::measure::run::Value;
use crate::measure::series::Series;
use crate::run::{Cast, Failed, Plan, Run};
use crate::scenario::Scenario;

use alone::Alone;
use profiles::Profiles;

pub use cdf::Cdf;
pub use checks::SystemCheck;
pub use differences::Difference;
pub(crate) use differences::verdict;
pub use disagreements::{Disagreement, THRESHOLD, disagreements};
pub use profiles::Profile;
pub use published::Compared;
pub use rows::Row;
pub use single::{MARGIN, Worse};

/// Samples that distribution functions are made of.
const CDF_OF: [&str; 5] = ["rate_mbps", "wait_ms", "owd_ms", "fps", "e2e_ms"];

/// Runs over time that a report can show; chosen by us: they make it a file of
/// about two megabytes, which can be mailed.
const SHOWN_RUNS: usize = 24;

/// What a scenario's runs gave so far.
#[derive(Debug)]
pub struct Outcome<'a> {
    scenario: &'a Scenario,
    engine: EngineKind,
    /// What must be known of the runs, each thing once.
    /// By variant and seed.
    notes: BTreeMap<(usize, u64), Vec<String>>,
    /// By variant, then by seed: of everybody, and what follows from others.
    values: Vec<Vec<Option<Vec<Value>>>>,
    /// What comparing flows with themselves alone needs.
    alone: Alone,
    /// Tasks that should be run, and those that ended well.
    wanted: usize,
    finished: usize,
    /// By variant and seed: of the first seeds.
    series: BTreeMap<(usize, u64), Series>,
    /// Rates second by second.
    profiles: Profiles,
    /// By variant and quantity: samples of all seeds.
    samples: Vec<[Vec<f64>; CDF_OF.len()]>,
    /// By variant: the worst of all seeds.
    checks: Vec<Vec<Check>>,
    /// Runs that went wrong, in order of variant and seed.
    failed: Vec<Failed>,
    events: u64,
}

impl<'a> Outcome<'a> {
    /// Nothing ran yet; the simulator will.
    #[must_use]
    pub fn new(scenario: &'a Scenario) -> Outcome<'a> {
        Outcome::of(scenario, EngineKind::Sim)
    }

    /// Nothing ran yet.
    #[must_use]
    pub fn of(scenario: &'a Scenario, engine: EngineKind) -> Outcome<'a> {
        let variants = scenario.variants.len();
        Outcome {
            scenario,
            engine,
            notes: BTreeMap::new(),
            values: vec![vec![None; scenario.seeds as usize]; variants],
            alone: Alone::default(),
            wanted: Plan::of(scenario).tasks.len(),
            finished: 0,
            series: BTreeMap::new(),
            profiles: Profiles::default(),
            samples: vec![Default::default(); variants],
            checks: vec![Vec::new(); variants],
            failed: Vec::new(),
            events: 0,
        }
    }

    /// A task has ended. The order of tasks does not matter.
    pub fn add(&mut self, run: Run) {
        let (variant, seed) = (run.task.variant, run.task.seed);
        self.finished += 1;
        self.events += run.events;
        let notes = self.notes.entry((variant, seed)).or_default();
        let new = |note: &String| !notes.contains(note);
        let new: Vec<String> = run.notes.iter().filter(|note| new(note)).cloned().collect();
        notes.extend(new);
        checks::worst(&mut self.checks[variant], run.checks.clone());
        self.alone.add(&run);
        if run.task.cast == Cast::Everybody {
            self.add_everybody(run);
        }
        if let Some(values) = &mut self.values[variant][seed as usize - 1] {
            self.alone.compare(self.scenario, (variant, seed), values);
        }
    }

    fn add_everybody(&mut self, run: Run) {
        let (variant, seed) = (run.task.variant, run.task.seed);
        let flows = &self.scenario.variants[variant];
        let focus: Vec<&str> = flows
            .focus
            .iter()
            .map(|&f| flows.setup.flows[f].name.as_str())
            .collect();
        for (name, samples) in CDF_OF.iter().zip(&mut self.samples[variant]) {
            let columns = run.series.columns.iter();
            let of_focus = columns.filter(|c| c.name == *name && focus.contains(&c.of.as_str()));
            samples.extend(of_focus.flat_map(|c| c.values.iter().flatten()));
        }
        self.profiles
            .add(self.scenario, (variant, seed), &run.series);
        if seed <= self.shown_seeds() {
            self.series.insert((variant, seed), run.series);
        }
        self.values[variant][seed as usize - 1] = Some(run.values);
    }

    /// A task went wrong.
    pub fn add_failed(&mut self, failed: Failed) {
        self.failed.push(failed);
        self.failed.sort_by(|a, b| {
            (a.task.variant, a.task.seed, &a.task.cast).cmp(&(
                b.task.variant,
                b.task.seed,
                &b.task.cast,
            ))
        });
    }

    /// What was run.
    #[must_use]
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// What made the runs.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// What must be known of scenario and runs to judge them. What is true of
    /// every run is said once, anything else with the run that it is about.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut all = self.scenario.notes();
        let runs = || self.notes.iter();
        for ((variant, seed), notes) in runs() {
            let system = &self.scenario.variants[*variant].name;
            for note in notes {
                let told = match runs().all(|(_, notes)| notes.contains(note)) {
                    true => note.clone(),
                    false => format!("{system}, seed {seed}: {note}"),
                };
                if !all.contains(&told) {
                    all.push(told);
                }
            }
        }
        all
    }

    /// Tasks that ended well.
    #[must_use]
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Tasks that there should be.
    #[must_use]
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Metrics that the scenario asks for and no run has: the engine does not
    /// see them, or there was nothing of the kind.
    #[must_use]
    pub fn missing(&self) -> Vec<&'a str> {
        let runs = || self.values.iter().flatten().flatten();
        let has = |name: &str| {
            let is = |(of, _): &Value| of == name || of.split('.').next() == Some(name);
            runs().any(|values| values.iter().any(is))
        };
        let wanted = self.scenario.metrics.iter().map(String::as_str);
        match runs().next() {
            Some(_) => wanted.filter(|name| !has(name)).collect(),
            None => Vec::new(),
        }
    }

    /// Runs that went wrong.
    #[must_use]
    pub fn failed(&self) -> &[Failed] {
        &self.failed
    }

    /// Events of all runs.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Seeds of which at least one run ended.
    #[must_use]
    pub fn seeds(&self) -> Vec<u64> {
        let seeds = 0..self.scenario.seeds as usize;
        let ended = seeds.filter(|&seed| self.values.iter().any(|of| of[seed].is_some()));
        ended.map(|seed| seed as u64 + 1).collect()
    }

    /// What stood for the star in the names of the traces, in the order of the
    /// seeds that play them.
    #[must_use]
    pub fn traces(&self) -> Vec<&'a str> {
        let first = self.scenario.variants.first();
        first.map_or(Vec::new(), |variant| variant.traces.names().collect())
    }

    /// The profile of each flow and link of each variant.
    #[must_use]
    pub fn profiles(&self) -> Vec<Profile> {
        self.profiles.of(self.scenario)
    }

    /// Seeds from 1 to this have their series in the report.
    fn shown_seeds(&self) -> u64 {
        (SHOWN_RUNS / self.scenario.variants.len().max(1)).max(1) as u64
    }

    /// The series of a variant with this seed, if it is one of the first and has
    /// ended.
    #[must_use]
    pub fn series(&self, variant: usize, seed: u64) -> Option<&Series> {
        self.series.get(&(variant, seed))
    }
}

#[cfg(test)]
mod tests;
