//! Executes scenarios, with Ctrl-C, progress and classes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weft_lab::engine::sim::Simulator;
use weft_lab::outcome::Outcome;
use weft_lab::output::{self, Conditions};
use weft_lab::run::{self as runs, Plan, Run, TaskResult};
use weft_lab::scenario::Custom;
use weft_lab::{Scenario, catalogue};

use crate::arguments::{Overrides, assignments, grid as swept, links};
use crate::classes::{self, Classes};
use crate::error::{RunError, scenario as invalid};
use crate::results::Results;

/// Interval between two checks for Ctrl-C. Chosen by us: imperceptible, and costs
/// nothing.
const SIGNAL_CHECK: Duration = Duration::from_millis(50);

/// Options for running a scenario.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Options {
    systems: Option<Vec<String>>,
    seeds: Option<u32>,
    duration: Option<f64>,
    jobs: Option<usize>,
    progress: Option<Py<PyAny>>,
    controllers: Py<PyDict>,
    schedulers: Py<PyDict>,
}

/// Runs a call over these links with each system and each seed.
#[pyfunction]
pub fn compare(
    py: Python<'_>,
    named: &Bound<'_, PyDict>,
    streams: u32,
    set: Option<&Bound<'_, PyDict>>,
    grid: Option<&Bound<'_, PyDict>>,
    options: Options,
) -> PyResult<Py<Results>> {
    let (changes, classes) = options.changes(py, set, grid)?;
    let scenario = read_scenario(None, Some((named, streams)), &changes, &classes.custom())?;
    options.execute(py, &scenario, &classes)
}

/// Runs a scenario by the path of its file, or an embedded one by `SET/NAME`.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    name: &str,
    set: Option<&Bound<'_, PyDict>>,
    grid: Option<&Bound<'_, PyDict>>,
    options: Options,
) -> PyResult<Py<Results>> {
    let (changes, classes) = options.changes(py, set, grid)?;
    let scenario = read_scenario(Some(name), None, &changes, &classes.custom())?;
    options.execute(py, &scenario, &classes)
}

/// Reads a scenario by its path or name, or the scenario of a call over links with this
/// number of cameras.
pub fn read_scenario(
    name: Option<&str>,
    named: Option<(&Bound<'_, PyDict>, u32)>,
    set: &[String],
    custom: &Custom,
) -> PyResult<Scenario> {
    match (name, named) {
        (Some(name), _) => {
            let entry = catalogue::find_one(name).map_err(invalid)?;
            entry.scenario_with(set, custom).map_err(invalid)
        }
        (None, Some((named, streams))) => {
            let text = catalogue::comparison(&links(named)?, streams).map_err(invalid)?;
            let read = Scenario::parse_with("weft lab compare", &text, set, custom);
            read.map_err(|error| match error.at {
                // The text with the error is generated, not written by the user.
                Some(_) => invalid(error.message),
                None => invalid(error),
            })
        }
        (None, None) => Err(invalid("give a scenario or links")),
    }
}

/// Returns name and title of each embedded scenario.
#[pyfunction]
pub fn scenarios() -> PyResult<Vec<(String, String)>> {
    let title = |entry: catalogue::Entry| {
        let scenario = entry.scenario(&[]).map_err(invalid)?;
        Ok((entry.name, scenario.title))
    };
    catalogue::embedded().into_iter().map(title).collect()
}

/// Returns the text of a scenario.
#[pyfunction]
pub fn scenario_text(name: &str) -> PyResult<String> {
    let entry = catalogue::find_one(name).map_err(invalid)?;
    Ok(entry.scenario(&[]).map_err(invalid)?.source.text)
}

impl Options {
    /// Returns all changes to the scenario, and the Python classes that it may name.
    pub fn changes(
        &self,
        py: Python<'_>,
        set: Option<&Bound<'_, PyDict>>,
        grid: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<(Vec<String>, Classes)> {
        let overrides = Overrides {
            systems: self.systems.clone(),
            seeds: self.seeds,
            duration: self.duration,
        };
        let classes = classes::register(self.controllers.bind(py), self.schedulers.bind(py))?;
        let mut changes = assignments(set)?;
        changes.extend(swept(grid)?);
        changes.extend(overrides.assignments());
        Ok((changes, classes))
    }

    /// Runs the scenario on separate threads; this one checks for Ctrl-C and reports
    /// progress.
    fn execute(
        &self,
        py: Python<'_>,
        scenario: &Scenario,
        classes: &Classes,
    ) -> PyResult<Py<Results>> {
        let jobs = self.jobs.unwrap_or_else(output::processors);
        let begun = Instant::now();
        let stop = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel();
        let mut gathered = Gathered::new(scenario);
        let interrupted = thread::scope(|scope| {
            scope.spawn(|| {
                // The receiver outlives this thread, so nothing is lost.
                let send = |ended: TaskResult| sender.send(ended).map_err(drop);
                let _ = runs::run(scenario, &Simulator, jobs, &stop, send);
                drop(sender);
            });
            self.gather(py, receiver, &stop, &mut gathered)
        });
        let results = py.detach(|| gathered.into_results(begun, jobs));
        finish(py, results, interrupted.err(), classes.take())
    }

    fn gather(
        &self,
        py: Python<'_>,
        mut receiver: Receiver<TaskResult>,
        stop: &AtomicBool,
        gathered: &mut Gathered<'_>,
    ) -> PyResult<()> {
        let mut first: PyResult<()> = Ok(());
        loop {
            let (back, received) = py.detach(move || {
                let received = receiver.recv_timeout(SIGNAL_CHECK);
                (receiver, received)
            });
            receiver = back;
            let mut checked = py.check_signals();
            match received {
                Err(RecvTimeoutError::Disconnected) => return first.and(checked),
                Err(RecvTimeoutError::Timeout) => {}
                Ok(ended) => {
                    gathered.add(ended);
                    if let (Some(progress), true) = (&self.progress, first.is_ok()) {
                        let told = progress.call1(py, (gathered.ended(), gathered.planned));
                        checked = checked.and(told.map(drop));
                    }
                }
            }
            if let Err(error) = checked {
                stop.store(true, Ordering::Relaxed);
                first = first.and(Err(error));
            }
        }
    }
}

/// Returns the results, or an exception that contains them: an interruption, or failed
/// and missing runs with their cause.
pub fn finish(
    py: Python<'_>,
    results: Results,
    interruption: Option<PyErr>,
    cause: Option<PyErr>,
) -> PyResult<Py<Results>> {
    let results = Py::new(py, results)?;
    let incomplete = results.get().incomplete.clone();
    let error = match (interruption, incomplete) {
        (Some(error), _) => error,
        (None, None) => return Ok(results),
        (None, Some(text)) => {
            let error = RunError::new_err(text);
            error.set_cause(py, cause);
            error
        }
    };
    // Finished runs are available after a failure and after Ctrl-C.
    error.value(py).setattr("results", results)?;
    Err(error)
}

/// Runs that have ended.
pub struct Gathered<'a> {
    pub outcome: Outcome<'a>,
    runs: Vec<Run>,
    planned: usize,
}

impl<'a> Gathered<'a> {
    pub fn new(scenario: &'a Scenario) -> Gathered<'a> {
        Gathered {
            outcome: Outcome::new(scenario),
            runs: Vec::new(),
            planned: Plan::of(scenario).tasks.len(),
        }
    }

    pub fn add(&mut self, ended: TaskResult) {
        match ended {
            Ok(run) => {
                self.runs.push(run.clone());
                self.outcome.add(run);
            }
            Err(failed) => self.outcome.add_failed(failed),
        }
    }

    fn ended(&self) -> usize {
        self.outcome.finished() + self.outcome.failed().len()
    }

    pub fn into_results(self, begun: Instant, jobs: usize) -> Results {
        let conditions = Conditions::now("weft_lab".to_owned(), begun, jobs);
        let report = output::report_data(&self.outcome, &conditions);
        Results::new(&self.outcome, self.runs, report)
    }
}
