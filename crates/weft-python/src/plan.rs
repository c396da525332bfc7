//! Runs of a scenario one by one, for workers in other processes: the native half of
//! `weft_lab.ray`.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weft_lab::Scenario;
use weft_lab::engine::EngineError;
use weft_lab::engine::sim::Simulator;
use weft_lab::output::{Conditions, Folder, pack, unpack};
use weft_lab::run::{self as runs, FailedTask, Task};

use crate::classes::Classes;
use crate::error::LabError;
use crate::execute::{Gathered, Options, finish, read_scenario};
use crate::results::Results;

/// Runs of a scenario, by number.
#[pyclass(module = "weft_lab")]
pub struct Plan {
    scenario: Scenario,
    tasks: Vec<Task>,
    classes: Classes,
    folder: Option<Folder>,
}

#[pymethods]
impl Plan {
    /// Creates the plan of a scenario, or of a call over links.
    #[new]
    fn new(
        py: Python<'_>,
        name: Option<&str>,
        named: Option<&Bound<'_, PyDict>>,
        set: Option<&Bound<'_, PyDict>>,
        grid: Option<&Bound<'_, PyDict>>,
        options: Options,
    ) -> PyResult<Plan> {
        let (changes, classes) = options.changes(py, set, grid)?;
        let named = named.map(|named| (named, 1));
        let scenario = read_scenario(name, named, &changes, &classes.custom())?;
        Ok(Plan {
            tasks: runs::Plan::of(&scenario).tasks,
            scenario,
            classes,
            folder: None,
        })
    }

    fn __len__(&self) -> usize {
        self.tasks.len()
    }

    /// Executes a run. Returns its results, or `None` and the error.
    fn run(&self, py: Python<'_>, task: usize) -> PyResult<(Option<Vec<u8>>, String)> {
        let task = self.task(task)?.clone();
        let mut ended = None;
        let stop = AtomicBool::new(false);
        let keep = |one| -> Result<(), ()> {
            ended = Some(one);
            Ok(())
        };
        let (scenario, tasks) = (&self.scenario, [task]);
        let _ = py.detach(|| runs::run_tasks(scenario, &Simulator, &tasks, 1, &stop, keep));
        let text = |error: PyErr| error.to_string();
        match ended {
            Some(Ok(run)) => Ok((Some(pack(&run).into_bytes()), String::new())),
            Some(Err(failed)) => {
                let cause = self.classes.take().map(text);
                Ok((None, cause.unwrap_or_else(|| failed.error.to_string())))
            }
            None => Err(LabError::new_err("the run was stopped")),
        }
    }

    /// Opens the folder for the results. Returns the numbers and results of the runs of
    /// an interrupted sweep under equal conditions.
    fn open(&mut self, path: &str, build: &str) -> PyResult<Vec<(usize, Vec<u8>)>> {
        let path = Path::new(path);
        if let Some(other) = Folder::scenario_at(path).filter(|name| *name != self.scenario.name) {
            return Err(LabError::new_err(format!(
                "out: {} has the results of {other}: give another folder",
                path.display()
            )));
        }
        let source = &self.scenario.source;
        let set: Vec<&str> = source.arguments().collect();
        let about = format!(
            "{build}\n{set:?}\nset-ups {:016x}\n",
            runs::fingerprint(&self.scenario)
        );
        let (folder, left) = Folder::resume(path, &about).map_err(failed)?;
        self.folder = Some(folder);
        let left = left.iter().filter_map(|run| {
            let number = self.tasks.iter().position(|task| *task == run.task)?;
            Some((number, pack(run).into_bytes()))
        });
        Ok(left.collect())
    }

    /// Writes a finished run into the folder.
    fn keep(&self, run: &[u8]) -> PyResult<()> {
        let Some(folder) = &self.folder else {
            return Ok(());
        };
        let run = unpack(run).ok_or_else(bad_run)?;
        folder.write_series(&self.scenario, &run).map_err(failed)?;
        folder.keep_for_now(&self.scenario, &run).map_err(failed)
    }

    /// Returns the results of finished and failed runs, in any order, and writes them
    /// into the folder.
    fn merge(
        &self,
        py: Python<'_>,
        finished: Vec<Vec<u8>>,
        bad: Vec<(usize, String)>,
        workers: usize,
    ) -> PyResult<Py<Results>> {
        let begun = Instant::now();
        let mut gathered = Gathered::new(&self.scenario);
        for run in &finished {
            gathered.add(Ok(unpack(run).ok_or_else(bad_run)?));
        }
        for (task, text) in bad {
            let (task, error) = (self.task(task)?.clone(), EngineError::Run(text));
            gathered.add(Err(FailedTask { task, error }));
        }
        if let Some(folder) = &self.folder {
            let conditions = Conditions::now("weft_lab.ray.sweep".to_owned(), begun, workers);
            folder
                .write_outcome(&gathered.outcome, &conditions)
                .map_err(failed)?;
            if gathered.outcome.incomplete().is_none() {
                folder.all_ended().map_err(failed)?;
            }
        }
        let results = py.detach(|| gathered.into_results(begun, workers));
        finish(py, results, None, None)
    }
}

impl Plan {
    fn task(&self, number: usize) -> PyResult<&Task> {
        let found = self.tasks.get(number);
        found.ok_or_else(|| LabError::new_err(format!("there is no run {number}")))
    }
}

fn failed(error: impl std::fmt::Display) -> PyErr {
    LabError::new_err(error.to_string())
}

fn bad_run() -> PyErr {
    LabError::new_err("a worker returned results of another version: install the same wheel on all")
}
