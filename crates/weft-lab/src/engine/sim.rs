//! Engine `sim`: virtual time, and one parallel run per processor.

use std::ops::ControlFlow;

use weft_experiment::Setup;
use weft_sim::Observer;
use weft_units::Instant;

use super::{Engine, EngineError, EngineKind, Halt, RunOutput};

/// Runs a setup in virtual time; it has no requirements.
#[derive(Clone, Copy, Debug)]
pub struct Simulator;

impl Engine for Simulator {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn at_a_time(&self, wanted: usize) -> usize {
        wanted
    }

    fn check(&self, setup: &Setup) -> Result<(), EngineError> {
        let checked = setup.check();
        checked.map_err(|error| EngineError::Lacking(error.to_string()))
    }

    fn run(
        &self,
        _: &str,
        setup: &Setup,
        seed: u64,
        halt: &Halt<'_>,
    ) -> Result<Option<RunOutput>, EngineError> {
        simulate(setup, seed, halt, &mut Halting(halt))
    }
}

/// Executes one run with this observer, which ends it at `halt`.
pub(super) fn simulate(
    setup: &Setup,
    seed: u64,
    halt: &Halt<'_>,
    observer: &mut dyn Observer,
) -> Result<Option<RunOutput>, EngineError> {
    let record = weft_sim::run(setup, seed, observer);
    if halt() {
        return Ok(None);
    }
    let record = record.map_err(|error| EngineError::Run(error.to_string()))?;
    Ok(Some(RunOutput {
        record,
        checks: Vec::new(),
        notes: Vec::new(),
    }))
}

/// Ends a run between two samples.
struct Halting<'a>(&'a Halt<'a>);

impl Observer for Halting<'_> {
    fn on_sample(&mut self, _: Instant) -> ControlFlow<()> {
        match (self.0)() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }
}
