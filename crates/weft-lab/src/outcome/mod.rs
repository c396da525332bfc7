//! All runs of a scenario together: estimates, differences, comparison with published
//! values, and the self-check.

mod alone;
mod answer;
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
use crate::measure::percentiles::{Percentiles, QUANTITIES};
use crate::measure::run::Value;
use crate::measure::series::Series;
use crate::run::{FailedTask, Participants, Plan, Run};
use crate::scenario::Scenario;

use alone::Alone;
use profiles::Profiles;

pub use answer::Answer;
pub(crate) use answer::{Contrast, Sides, sentences};
pub use cdf::Cdf;
pub use checks::SystemCheck;
pub use differences::Difference;
pub(crate) use differences::verdict;
pub use disagreements::{Disagreement, THRESHOLD, disagreements};
pub use profiles::Profile;
pub use published::Compared;
pub use rows::{Median, Row};
pub use single::{MARGIN, Worse};

/// Number of runs over time that a report can show; chosen by us: the report then has
/// about two megabytes, which can be mailed.
const SHOWN_RUNS: usize = 24;

/// Number of points of a time series: as many as a screen can show.
const SERIES_ROWS: usize = 600;
/// Minimum number of points with many systems: one per second for two minutes.
const FEWEST_ROWS: usize = 120;
/// Maximum number of rows of all systems together, so that a page with hundreds of
/// systems opens quickly; with up to 40 systems, each has the full number. Chosen by us.
const ALL_ROWS: usize = 24_000;

/// Returns the number of points of each time series for this many systems.
pub(crate) fn rows_of_each(systems: usize) -> usize {
    (ALL_ROWS / systems.max(1)).clamp(FEWEST_ROWS, SERIES_ROWS)
}

/// Results of a scenario's runs so far.
#[derive(Debug)]
pub struct Outcome<'a> {
    scenario: &'a Scenario,
    engine: EngineKind,
    /// Notes on the runs without repetition, by variant and seed.
    notes: BTreeMap<(usize, u64), Vec<String>>,
    /// Metrics by variant, then by seed: of runs with all flows, and of comparisons.
    values: Vec<Vec<Option<Vec<Value>>>>,
    /// Data for comparing flows with a run of themselves alone.
    alone: Alone,
    /// Number of planned tasks, and of those that succeeded.
    wanted: usize,
    finished: usize,
    /// Time series by variant and seed: of the first seeds, with the displayed points.
    series: BTreeMap<(usize, u64), Series>,
    /// Rates in each second.
    profiles: Profiles,
    /// By variant and quantity: the distribution of each run, with its seed.
    percentiles: Vec<[Vec<(u64, Percentiles)>; QUANTITIES.len()]>,
    /// By variant: the largest deviation of all seeds.
    checks: Vec<Vec<Check>>,
    /// Failed runs, in order of variant and seed.
    failed: Vec<FailedTask>,
    events: u64,
}

impl<'a> Outcome<'a> {
    /// Creates an outcome without runs, for the simulator.
    #[must_use]
    pub fn new(scenario: &'a Scenario) -> Outcome<'a> {
        Outcome::of(scenario, EngineKind::Sim)
    }

    /// Creates an outcome without runs.
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
            percentiles: vec![Default::default(); variants],
            checks: vec![Vec::new(); variants],
            failed: Vec::new(),
            events: 0,
        }
    }

    /// Adds a finished task. The order of tasks does not matter.
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
        if run.task.participants == Participants::All {
            self.add_everybody(run);
        }
        if let Some(values) = &mut self.values[variant][seed as usize - 1] {
            self.alone.compare(self.scenario, (variant, seed), values);
        }
    }

    fn add_everybody(&mut self, run: Run) {
        let (variant, seed) = (run.task.variant, run.task.seed);
        let known = &mut self.percentiles[variant];
        for (all, own) in known.iter_mut().zip(run.percentiles) {
            all.extend(own.map(|own| (seed, own)));
        }
        self.profiles
            .add(self.scenario, (variant, seed), &run.series);
        if seed <= self.shown_seeds() {
            let rows = rows_of_each(self.scenario.variants.len());
            self.series
                .insert((variant, seed), run.series.thinned(rows));
        }
        self.values[variant][seed as usize - 1] = Some(run.values);
    }

    /// Adds a failed task.
    pub fn add_failed(&mut self, failed: FailedTask) {
        self.failed.push(failed);
        self.failed.sort_by(|a, b| {
            (a.task.variant, a.task.seed, &a.task.participants).cmp(&(
                b.task.variant,
                b.task.seed,
                &b.task.participants,
            ))
        });
    }

    /// Returns the scenario.
    #[must_use]
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// Returns the engine of the runs.
    #[must_use]
    pub fn engine(&self) -> EngineKind {
        self.engine
    }

    /// Returns notes on scenario and runs that readers need to judge them. A note about
    /// every run appears once; others name their run.
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

    /// Returns the number of tasks that succeeded.
    #[must_use]
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Returns the number of planned tasks.
    #[must_use]
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Returns the requested metrics that no run has, because the engine does not measure
    /// them or nothing of the kind occurred.
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

    /// Returns the error for failed and missing runs; `None` if all have finished.
    #[must_use]
    pub fn incomplete(&self) -> Option<String> {
        let (name, finished, wanted) = (&self.scenario.name, self.finished, self.wanted);
        if let Some(failed) = self.failed.first() {
            let system = &self.scenario.variants[failed.task.variant].name;
            return Some(format!(
                "{name}: {} of {wanted} runs failed, the first of them {system} with seed {}: {}",
                self.failed.len(),
                failed.task.seed,
                failed.error
            ));
        }
        (finished < wanted)
            .then(|| format!("{name}: partial, {finished} of {wanted} runs were finished"))
    }

    /// Returns the failed runs.
    #[must_use]
    pub fn failed(&self) -> &[FailedTask] {
        &self.failed
    }

    /// Returns the number of events of all runs.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Returns the seeds with at least one finished run.
    #[must_use]
    pub fn seeds(&self) -> Vec<u64> {
        let seeds = 0..self.scenario.seeds as usize;
        let ended = seeds.filter(|&seed| self.values.iter().any(|of| of[seed].is_some()));
        ended.map(|seed| seed as u64 + 1).collect()
    }

    /// Returns the texts matched by the star in the names of the traces, in the order of
    /// their seeds.
    #[must_use]
    pub fn traces(&self) -> Vec<&'a str> {
        let first = self.scenario.variants.first();
        first.map_or(Vec::new(), |variant| variant.traces.names().collect())
    }

    /// Returns the profile of each flow and link of each variant.
    #[must_use]
    pub fn profiles(&self) -> Vec<Profile> {
        self.profiles.of(self.scenario)
    }

    /// Returns the last seed whose series is in the report.
    fn shown_seeds(&self) -> u64 {
        (SHOWN_RUNS / self.scenario.variants.len().max(1)).max(1) as u64
    }

    /// Returns the series of a variant with this seed as shown in a report, if the seed
    /// is one of the first and its run has ended.
    #[must_use]
    pub fn series(&self, variant: usize, seed: u64) -> Option<&Series> {
        self.series.get(&(variant, seed))
    }
}

#[cfg(test)]
mod tests;
