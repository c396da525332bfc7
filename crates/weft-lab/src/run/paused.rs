//! Simulated runs that pause, for programs that act in between: an environment in which a
//! policy learns.

use std::sync::Arc;

use weft_experiment::Setup;
use weft_sim::Simulation;
use weft_units::{Duration, Instant};

use super::{Participants, Run, Task, looked_at};
use crate::engine::{EngineError, RunOutput};
use crate::measure::capacity::seeded;
use crate::scenario::Scenario;

/// Run that pauses. Its results equal those of the same task in [`super::run`].
pub struct PausedRun {
    scenario: Arc<Scenario>,
    task: Task,
    setup: Setup,
    simulation: Simulation<'static>,
    now: Instant,
}

impl PausedRun {
    /// Creates a run of a variant with all flows, at its beginning.
    ///
    /// # Errors
    /// If the simulator cannot run it.
    pub fn new(
        scenario: Arc<Scenario>,
        variant: usize,
        seed: u64,
    ) -> Result<PausedRun, EngineError> {
        let of = &scenario.variants[variant];
        let setup = seeded(of.traces.of(&of.setup, seed), seed);
        let simulation = Simulation::new(setup.clone(), seed);
        Ok(PausedRun {
            simulation: simulation.map_err(|error| EngineError::Lacking(error.to_string()))?,
            task: Task {
                variant,
                seed,
                participants: Participants::All,
            },
            now: Instant::ZERO,
            scenario,
            setup,
        })
    }

    /// Returns the time of the last pause, from the start of the run.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now - Instant::ZERO
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.simulation.has_ended()
    }

    /// Runs for this time, or to the end.
    pub fn advance(&mut self, time: Duration) {
        self.now += time;
        self.simulation.advance(self.now, &mut ());
    }

    /// Returns the results so far.
    #[must_use]
    pub fn finish(self) -> Run {
        let focus = &self.scenario.variants[self.task.variant].focus;
        let output = RunOutput {
            record: self.simulation.finish(),
            checks: Vec::new(),
            notes: Vec::new(),
        };
        let (setup, task) = (&self.setup, &self.task);
        looked_at(&self.scenario, task, setup, (setup, focus), output)
    }
}
