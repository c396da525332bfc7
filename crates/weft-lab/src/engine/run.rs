//! What an engine does.

use weft_experiment::{Record, Setup};

use super::error::EngineError;
use super::kind::EngineKind;
use crate::measure::check::Check;

/// What runs a set-up.
pub trait Engine: Sync {
    /// Which one it is.
    fn kind(&self) -> EngineKind;

    /// How many of its runs may be under way at a time, where so many are
    /// wanted.
    fn at_a_time(&self, wanted: usize) -> usize;

    /// Says what it cannot do of a set-up, before anything runs.
    ///
    /// # Errors
    /// What it lacks, with the remedy.
    fn check(&self, setup: &Setup) -> Result<(), EngineError>;

    /// One run with this seed; `None` when `halt` ended it.
    ///
    /// # Errors
    /// What went wrong, or is lacking.
    fn run(&self, setup: &Setup, seed: u64, halt: &Halt<'_>) -> Result<Option<Ran>, EngineError>;
}

/// Whether to end early.
pub type Halt<'a> = dyn Fn() -> bool + Sync + 'a;

/// A run that ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// What became of it.
    pub record: Record,
    /// Whether the engine itself did what it should.
    pub checks: Vec<Check>,
    /// What must be known to judge it.
    pub notes: Vec<String>,
}
