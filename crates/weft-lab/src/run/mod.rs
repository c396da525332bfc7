//! Running a scenario: every variant with every seed, on as many threads as
//! are asked for. What comes out depends on scenario and seeds only.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use weft_experiment::{Record, Setup};
use weft_sim::Observer;
use weft_units::Instant;

use crate::measure::capacity::{Capacities, seeded};
use crate::measure::check::{self, Check};
use crate::measure::metrics;
use crate::measure::run::{self as measured, Value, competition};
use crate::measure::series::Series;
use crate::scenario::{Scenario, Variant};

/// One variant with one seed, run to its end.
#[derive(Clone, Debug)]
pub struct Run {
    /// Position in [`Scenario::variants`].
    pub variant: usize,
    /// The seed.
    pub seed: u64,
    /// Metrics by name.
    pub values: Vec<Value>,
    /// Time series.
    pub series: Series,
    /// The self-check.
    pub checks: Vec<Check>,
    /// Events that were simulated, or packets that were emulated.
    pub events: u64,
    /// What must be known to judge it.
    pub notes: Vec<String>,
}

/// One variant with one seed that went wrong, and how.
#[derive(Clone, Debug)]
pub struct Failed {
    /// Position in [`Scenario::variants`].
    pub variant: usize,
    /// The seed.
    pub seed: u64,
    /// What was said.
    pub message: String,
}

/// How runs end.
pub type Ended = Result<Run, Failed>;

/// Runs everything on `jobs` threads, until `stop` is set. `each` is called
/// for every run that ended, on the caller's thread and in no particular
/// order; what was begun when `stop` was set is lost. Stops when `each` says
/// so with an error, and returns it.
///
/// # Errors
/// The error of `each`.
pub fn run<E>(
    scenario: &Scenario,
    jobs: usize,
    stop: &AtomicBool,
    mut each: impl FnMut(Ended) -> Result<(), E>,
) -> Result<(), E> {
    let tasks = tasks(scenario);
    let next = AtomicUsize::new(0);
    let cancelled = AtomicBool::new(false);
    let halt = || stop.load(Ordering::Relaxed) || cancelled.load(Ordering::Relaxed);
    let (sender, ended) = mpsc::sync_channel(jobs.max(1));
    thread::scope(|threads| {
        for _ in 0..jobs.clamp(1, tasks.len().max(1)) {
            let (sender, tasks, next, halt) = (sender.clone(), &tasks, &next, &halt);
            threads.spawn(move || {
                while !halt() {
                    let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) else {
                        break;
                    };
                    let ended = one(scenario, *task, halt);
                    let Some(ended) = ended else { break };
                    if sender.send(ended).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let mut result = Ok(());
        // To the end also after an error, so that no thread waits for ever.
        for run in ended {
            if result.is_ok() {
                result = each(run);
            }
            if result.is_err() {
                cancelled.store(true, Ordering::Relaxed);
            }
        }
        result
    })
}

/// Seed by seed, so that a stop leaves all systems with as many runs.
fn tasks(scenario: &Scenario) -> Vec<(usize, u64)> {
    let seeds = 1..=u64::from(scenario.seeds);
    seeds
        .flat_map(|seed| (0..scenario.variants.len()).map(move |variant| (variant, seed)))
        .collect()
}

/// `None` when it was stopped.
fn one(
    scenario: &Scenario,
    (variant, seed): (usize, u64),
    halt: &dyn Fn() -> bool,
) -> Option<Ended> {
    let of = &scenario.variants[variant];
    let ran = catch_unwind(AssertUnwindSafe(|| measured(scenario, of, seed, halt)));
    let failed = |message: String| {
        Err(Failed {
            variant,
            seed,
            message,
        })
    };
    Some(match ran {
        Ok(Some(Ok((values, series, checks, events)))) => Ok(Run {
            variant,
            seed,
            values,
            series,
            checks,
            events,
            notes: Vec::new(),
        }),
        Ok(Some(Err(message))) => failed(message),
        Ok(None) => return None,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            failed(format!(
                "the simulator broke: {}",
                text.unwrap_or("no message")
            ))
        }
    })
}

type Measured = (Vec<Value>, Series, Vec<Check>, u64);

fn measured(
    scenario: &Scenario,
    variant: &Variant,
    seed: u64,
    halt: &dyn Fn() -> bool,
) -> Option<Result<Measured, String>> {
    let setup = variant.traces.of(&variant.setup, seed);
    let setup = seeded(setup, seed);
    let capacities = Capacities::of(&setup);
    let record = match simulated(&setup, seed, halt)? {
        Ok(record) => record,
        Err(message) => return Some(Err(message)),
    };
    let run = measured::Run {
        setup: &setup,
        focus: &variant.focus,
        from: scenario.measure_from,
        capacities: &capacities,
        record: &record,
    };
    let mut values = metrics::measure(&run);
    if scenario.metrics.iter().any(|name| name == "harm") {
        match harm(&run, seed, halt)? {
            Ok(harm) => values.extend(harm.map(|value| ("harm".to_owned(), value))),
            Err(message) => return Some(Err(message)),
        }
    }
    Some(Ok((
        values,
        Series::of(&run),
        check::checks(&run),
        record.events,
    )))
}

/// The same flows with the same seed alone say what they demand.
fn harm(
    run: &measured::Run<'_>,
    seed: u64,
    halt: &dyn Fn() -> bool,
) -> Option<Result<Option<f64>, String>> {
    let Some(window) = competition(run) else {
        return Some(Ok(None));
    };
    let alone = run
        .focus
        .iter()
        .map(|&flow| run.setup.flows[flow].clone())
        .collect();
    let setup = Setup {
        flows: alone,
        ..run.setup.clone()
    };
    let record = match simulated(&setup, seed, halt)? {
        Ok(record) => record,
        Err(message) => return Some(Err(message)),
    };
    let focus: Vec<usize> = (0..setup.flows.len()).collect();
    let alone = measured::Run {
        setup: &setup,
        focus: &focus,
        record: &record,
        ..*run
    };
    let demand = metrics::throughput_while(&alone, window);
    Some(Ok(metrics::harm(
        demand,
        metrics::throughput_while(run, window),
    )))
}

/// `None` when it was stopped.
fn simulated(setup: &Setup, seed: u64, halt: &dyn Fn() -> bool) -> Option<Result<Record, String>> {
    let record = weft_sim::run(setup, seed, &mut Halting(halt));
    (!halt()).then(|| record.map_err(|error| error.to_string()))
}

/// Ends a run between two samples.
struct Halting<'a>(&'a dyn Fn() -> bool);

impl Observer for Halting<'_> {
    fn on_sample(&mut self, _: Instant) -> ControlFlow<()> {
        if (self.0)() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[cfg(test)]
mod tests;
