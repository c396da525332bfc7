//! What makes the record of a run out of what it is set up with: the simulator
//! in virtual time, the emulator with real packets and real programs.

pub mod emu;
mod error;
pub mod sim;

use serde::Serialize;
use weft_experiment::{Record, Setup};

use crate::measure::check::Check;

pub use error::EngineError;

/// Which engine runs were made by, as results name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineKind {
    /// The simulator.
    #[default]
    Sim,
    /// The emulator.
    Emu,
}

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

impl EngineKind {
    /// In results and names of folders.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Sim => "sim",
            EngineKind::Emu => "emu",
        }
    }

    /// For people.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            EngineKind::Sim => "simulator",
            EngineKind::Emu => "emulator",
        }
    }
}
