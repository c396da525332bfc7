//! Call that an external agent controls step by step: the native half of `weft_lab.gym`.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use weft_lab::Scenario;
use weft_lab::run::PausedRun;
use weft_lab::scenario::Custom;
use weft_units::Duration;

use crate::agent::{Agent, NAME};
use crate::arguments::assignments;
use crate::error::{LabError, ScenarioError};
use crate::execute::read_scenario;

/// Number of figures of a path in an observation: received Mbit/s, share of lost packets,
/// queueing delay and round-trip time in seconds, and the target rate in Mbit/s.
const FIGURES: usize = 5;

/// Call of a scenario whose rates and shares are set by an agent.
#[pyclass(module = "weft_lab")]
pub struct Environment {
    /// Names of the links, with one path each.
    #[pyo3(get)]
    links: Vec<String>,
    /// Behind a lock, because a Python class must be shareable among threads.
    state: Mutex<State>,
}

struct State {
    scenario: Arc<Scenario>,
    agent: Arc<Agent>,
    start: f64,
    run: Option<PausedRun>,
}

/// Rates in bit/s, shares, and the length of a step in seconds.
type Action = (Vec<f64>, Vec<f64>, f64);

#[pymethods]
impl Environment {
    /// Creates an environment of a scenario, or of a call over links. `start` is the
    /// target rate of each path before the first action, bit/s.
    #[new]
    fn new(
        name: Option<&str>,
        named: Option<&Bound<'_, PyDict>>,
        set: Option<&Bound<'_, PyDict>>,
        paths: Option<Vec<String>>,
        start: f64,
    ) -> PyResult<Environment> {
        let named = named.map(|named| (named, 1));
        let set = assignments(set)?;
        let plain = read_scenario(name, named, &set, &Custom::default())?;
        let first = plain.variants.first();
        let known = first.map_or(Vec::new(), |variant| variant.links.clone());
        let paths = paths.unwrap_or_else(|| known.clone());
        let system = match &paths[..] {
            [] => return Err(ScenarioError::new_err("paths: name at least one link")),
            [one] => format!("single/{NAME}@{one}"),
            _ => format!("{NAME}/{NAME}@{}", paths.join("+")),
        };
        let agent = Agent::new(paths.len());
        let set: Vec<String> = set
            .into_iter()
            .chain([format!("systems=[{system:?}]")])
            .collect();
        let scenario = read_scenario(name, named, &set, &agent.custom())?;
        let calls = scenario.variants.first().map_or(0, |variant| {
            let flows = variant.focus.iter().map(|&flow| &variant.setup.flows[flow]);
            flows
                .filter(|flow| flow.traffic().media().is_some())
                .count()
        });
        if calls != 1 || scenario.variants.len() != 1 {
            return Err(ScenarioError::new_err(format!(
                "{}: an environment needs one call under test and no varied values, and there \
                 are {calls} calls and {} variants: give calls a `system` of their own, and a \
                 varied field one value with `set`",
                scenario.source.file,
                scenario.variants.len()
            )));
        }
        Ok(Environment {
            links: paths,
            state: Mutex::new(State {
                scenario: Arc::new(scenario),
                agent,
                start,
                run: None,
            }),
        })
    }

    /// Returns the length of a run in seconds.
    #[getter]
    fn duration(&mut self) -> f64 {
        self.state().scenario.duration().as_secs_f64()
    }

    /// Starts a run with this seed.
    fn reset(&mut self, seed: u64) -> PyResult<()> {
        self.state().reset(seed)
    }

    /// Runs for some seconds under this action. Returns the figures of each path, one
    /// path after another, and whether the run has ended.
    fn step(&mut self, py: Python<'_>, action: Action) -> PyResult<(Vec<f64>, bool)> {
        let state = self.state();
        py.detach(|| state.step(&action))
    }

    /// Ends the run and returns its metrics.
    fn metrics(&mut self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        let run = self.state().run.take().ok_or_else(no_run)?;
        Ok(py.detach(|| run.finish().values))
    }
}

/// Runs several environments for a step, on this number of threads. Does not change a run
/// that has ended.
#[pyfunction]
pub fn step_all(
    py: Python<'_>,
    environments: Vec<Py<Environment>>,
    actions: Vec<Action>,
    threads: usize,
) -> PyResult<Vec<(Vec<f64>, bool)>> {
    let mut borrowed = Vec::new();
    for each in &environments {
        borrowed.push(each.try_borrow_mut(py)?);
    }
    let mut states: Vec<(&mut State, &Action)> = borrowed
        .iter_mut()
        .map(|each| each.state())
        .zip(&actions)
        .collect();
    let of_each = states.len().div_ceil(threads.max(1)).max(1);
    py.detach(|| {
        thread::scope(|scope| {
            let parts = states.chunks_mut(of_each).map(|part| {
                scope.spawn(|| {
                    let step = |(state, action): &mut (&mut State, &Action)| state.step(action);
                    part.iter_mut().map(step).collect::<PyResult<Vec<_>>>()
                })
            });
            let parts: Vec<_> = parts.collect();
            let mut all = Vec::new();
            for part in parts {
                let ended = part.join();
                let ended = ended.map_err(|_| LabError::new_err("the simulator broke"))?;
                all.extend(ended?);
            }
            Ok(all)
        })
    })
}

impl Environment {
    fn state(&mut self) -> &mut State {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn reset(&mut self, seed: u64) -> PyResult<()> {
        self.agent.reset(self.start);
        let run = PausedRun::new(self.scenario.clone(), 0, seed);
        self.run = Some(run.map_err(|error| LabError::new_err(error.to_string()))?);
        Ok(())
    }

    fn step(&mut self, (rates, shares, seconds): &Action) -> PyResult<(Vec<f64>, bool)> {
        let run = self.run.as_mut().ok_or_else(no_run)?;
        self.agent.act(rates, shares);
        run.advance(Duration::from_secs_f64(*seconds));
        let mut figures = Vec::with_capacity(rates.len() * FIGURES);
        for (seen, rate) in self.agent.look().zip(rates) {
            let ended = (seen.received + seen.lost).max(1) as f64;
            figures.extend([
                seen.bytes as f64 * 8e-6 / seconds,
                seen.lost as f64 / ended,
                seen.queueing,
                seen.rtt,
                rate / 1e6,
            ]);
        }
        Ok((figures, run.has_ended()))
    }
}

fn no_run() -> PyErr {
    LabError::new_err("there is no run: call reset() first")
}
