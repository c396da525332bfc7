//! Engines turn a setup into the record of a run: the simulator in virtual time, the
//! emulator with real packets and programs.

#[cfg(feature = "emulator")]
pub mod emu;
mod error;
mod kind;
mod run;
pub mod sim;
pub mod tracing;

pub use error::EngineError;
pub use kind::{EngineKind, Engines};
pub use run::{Engine, Halt, RunOutput};

#[cfg(feature = "emulator")]
use emu::{Emulator, Settings};
#[cfg(feature = "emulator")]
use sim::Simulator;

/// Creates an engine of this kind; `settings` are for engines that run programs.
///
/// # Errors
/// A missing requirement of the machine.
#[cfg(feature = "emulator")]
pub fn make(kind: EngineKind, settings: &Settings) -> Result<Box<dyn Engine>, EngineError> {
    Ok(match kind {
        EngineKind::Sim => Box::new(Simulator),
        EngineKind::Emu => Box::new(Emulator::new(settings.clone())?),
    })
}

/// Acquires the permissions that an engine needs. Call it first, while the process has
/// one thread.
///
/// # Errors
/// If the machine does not grant them.
#[cfg(feature = "emulator")]
pub fn prepare(kind: EngineKind) -> Result<(), EngineError> {
    match kind {
        EngineKind::Sim => Ok(()),
        EngineKind::Emu => emu::take_privilege(),
    }
}
