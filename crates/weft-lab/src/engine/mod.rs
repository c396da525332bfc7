//! What makes the record of a run out of what it is set up with: the simulator
//! in virtual time, the emulator with real packets and real programs.

pub mod emu;
mod error;
mod kind;
mod run;
pub mod sim;

pub use error::EngineError;
pub use kind::{EngineKind, Engines, UnknownEngine};
pub use run::{Engine, Halt, Ran};

use emu::{Emulator, Settings};
use sim::Simulator;

/// An engine of this kind; one that runs programs does it with these settings.
///
/// # Errors
/// What the machine lacks.
pub fn make(kind: EngineKind, settings: &Settings) -> Result<Box<dyn Engine>, EngineError> {
    Ok(match kind {
        EngineKind::Sim => Box::new(Simulator),
        EngineKind::Emu => Box::new(Emulator::new(settings.clone())?),
    })
}

/// Takes what an engine needs of a process. To be called first, while it has
/// one thread.
///
/// # Errors
/// When the machine does not give it.
pub fn prepare(kind: EngineKind) -> Result<(), EngineError> {
    match kind {
        EngineKind::Sim => Ok(()),
        EngineKind::Emu => emu::take_right(),
    }
}
