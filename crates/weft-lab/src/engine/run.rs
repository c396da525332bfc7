//! Interface of an engine.

use weft_experiment::{Record, Setup};

use super::error::EngineError;
use super::kind::EngineKind;
use crate::measure::check::Check;

/// Runs setups.
pub trait Engine: Sync {
    /// Returns the kind of engine.
    fn kind(&self) -> EngineKind;

    /// Returns the number of runs that it executes in parallel, at most `wanted`.
    fn at_a_time(&self, wanted: usize) -> usize;

    /// Checks that it supports a setup, before anything runs.
    ///
    /// # Errors
    /// The unsupported property, with the remedy.
    fn check(&self, setup: &Setup) -> Result<(), EngineError>;

    /// Executes one run with this seed; `None` if `halt` ended it. `name` is the name of
    /// its files.
    ///
    /// # Errors
    /// The failure, or the missing requirement.
    fn run(
        &self,
        name: &str,
        setup: &Setup,
        seed: u64,
        halt: &Halt<'_>,
    ) -> Result<Option<RunOutput>, EngineError>;
}

/// Whether to end early.
pub type Halt<'a> = dyn Fn() -> bool + Sync + 'a;

/// Completed run.
#[derive(Clone, Debug)]
pub struct RunOutput {
    /// Measurements of the run.
    pub record: Record,
    /// Self-checks of the engine.
    pub checks: Vec<Check>,
    /// Notes that readers need to judge the run.
    pub notes: Vec<String>,
}
