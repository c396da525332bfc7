//! Runs a scenario: every task of its plan, on as many threads as requested and supported
//! by the engine. The result of a simulated run depends only on scenario and seed.

#[cfg(feature = "emulator")]
mod clients;
mod paused;
mod plan;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use weft_experiment::Setup;

use crate::engine::{Engine, EngineError, Halt, RunOutput};
use crate::measure::capacity::{Capacities, seeded};
use crate::measure::check::{self, Check};
use crate::measure::metrics;
use crate::measure::percentiles::{self, RunPercentiles};
use crate::measure::run::{self as measured, Value, competition};
use crate::measure::series::Series;
use crate::scenario::Scenario;

#[cfg(feature = "emulator")]
pub use clients::as_seen_by;
pub use paused::PausedRun;
pub use plan::{Participants, Plan, Task, demand, fingerprint, task_name, victim};

/// A finished task with its results.
#[derive(Clone, Debug)]
pub struct Run {
    /// The task.
    pub task: Task,
    /// Metrics by name.
    pub values: Vec<Value>,
    /// Rates in Mbit/s of flows while others compete with them, by the flows that are
    /// compared with themselves alone.
    pub competing: Vec<(Vec<usize>, f64)>,
    /// Time series.
    pub series: Series,
    /// Distributions of its samples.
    pub percentiles: RunPercentiles,
    /// Self-check of the engine, and of the links if all flows take part.
    pub checks: Vec<Check>,
    /// Number of simulated events, or of emulated packets.
    pub events: u64,
    /// Notes that readers need to judge the run.
    pub notes: Vec<String>,
}

/// A failed task with its error.
#[derive(Clone, Debug)]
pub struct FailedTask {
    /// The task.
    pub task: Task,
    /// The error.
    pub error: EngineError,
}

/// Result of a task.
pub type TaskResult = Result<Run, FailedTask>;

/// Runs the plan of a scenario, `jobs` tasks at a time if the engine can, until `stop` is
/// set. Calls `each` for every finished task, on the caller's thread and in no particular
/// order; unfinished tasks are lost when `stop` is set. If `each` returns an error, stops
/// and returns it. Also stops if a missing requirement makes every run fail.
///
/// # Errors
/// The error of `each`.
pub fn run<E>(
    scenario: &Scenario,
    engine: &dyn Engine,
    jobs: usize,
    stop: &AtomicBool,
    each: impl FnMut(TaskResult) -> Result<(), E>,
) -> Result<(), E> {
    run_tasks(
        scenario,
        engine,
        &Plan::of(scenario).tasks,
        jobs,
        stop,
        each,
    )
}

/// Runs some tasks of the plan.
///
/// # Errors
/// The error of `each`.
pub fn run_tasks<E>(
    scenario: &Scenario,
    engine: &dyn Engine,
    tasks: &[Task],
    jobs: usize,
    stop: &AtomicBool,
    mut each: impl FnMut(TaskResult) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let cancelled = AtomicBool::new(false);
    let halt = || stop.load(Ordering::Relaxed) || cancelled.load(Ordering::Relaxed);
    let another = || {
        let task = tasks.get(next.fetch_add(1, Ordering::Relaxed))?;
        let ended = (!halt()).then(|| one(scenario, engine, task, &halt))??;
        if matches!(&ended, Err(failed) if matches!(failed.error, EngineError::Lacking(_))) {
            cancelled.store(true, Ordering::Relaxed);
        }
        Some(ended)
    };
    let threads = engine.at_a_time(jobs).clamp(1, tasks.len().max(1));
    if threads == 1 {
        return std::iter::from_fn(another).try_for_each(each);
    }
    let (sender, ended) = mpsc::sync_channel(threads);
    thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, another) = (sender.clone(), &another);
            scope
                .spawn(move || std::iter::from_fn(another).all(|ended| sender.send(ended).is_ok()));
        }
        drop(sender);
        let mut result = Ok(());
        // Reads to the end even after an error, so that no thread waits forever.
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

/// Executes one task; `None` if it was stopped.
fn one(
    scenario: &Scenario,
    engine: &dyn Engine,
    task: &Task,
    halt: &Halt<'_>,
) -> Option<TaskResult> {
    let of = &scenario.variants[task.variant];
    let all_flows = seeded(of.traces.of(&of.setup, task.seed), task.seed);
    let (setup, focus) = task.participants.of(&all_flows, &of.focus);
    let name = task_name(scenario, task);
    let output = catch_unwind(AssertUnwindSafe(|| {
        engine.run(&name, &setup, task.seed, halt)
    }));
    let failed = |error| {
        let task = task.clone();
        Err(FailedTask { task, error })
    };
    Some(match output {
        Ok(Ok(Some(output))) => Ok(looked_at(
            scenario,
            task,
            &all_flows,
            (&setup, &focus),
            output,
        )),
        Ok(Ok(None)) => return None,
        Ok(Err(error)) => failed(error),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
            let (engine, text) = (engine.kind().title(), text.unwrap_or("no message"));
            failed(EngineError::Run(format!("the {engine} broke: {text}")))
        }
    })
}

fn looked_at(
    scenario: &Scenario,
    task: &Task,
    all_flows: &Setup,
    (setup, focus): (&Setup, &[usize]),
    output: RunOutput,
) -> Run {
    let capacities = Capacities::of(setup);
    let run = measured::Run {
        setup,
        focus,
        from: scenario.measure_from,
        until: None,
        capacities: &capacities,
        record: &output.record,
    };
    let rate = |victim: &[usize], here: &[usize]| {
        let window = competition(all_flows, victim, (run.from, run.end()))?;
        Some((victim.to_vec(), metrics::throughput(&run, here, window)))
    };
    let mut checks = output.checks;
    let competing = match &task.participants {
        Participants::All => {
            checks.splice(..0, check::checks(&run));
            let victims = plan::victims(scenario, &scenario.variants[task.variant]);
            let rates = victims.iter().map(|victim| rate(victim, victim));
            rates.flatten().collect()
        }
        Participants::Only(victim) => rate(victim, focus).into_iter().collect(),
    };
    let series = Series::of(&run);
    let pairs = scenario.pairs();
    let wanted = metrics::Wanted {
        sections: &scenario.sections,
        pairs: &pairs,
    };
    Run {
        task: task.clone(),
        values: metrics::measure(&run, &wanted),
        competing,
        percentiles: percentiles::of(&run, &series),
        series,
        checks,
        events: output.record.events,
        notes: output.notes,
    }
}

#[cfg(test)]
mod tests;
