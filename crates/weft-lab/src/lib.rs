//! The lab: scenario files, runs over systems and seeds, metrics, statistics,
//! reports.
//!
//! [`Scenario`] is what a file says, [`run`] runs it in virtual time on all
//! cores, [`engine::emu`] with real packets and clients; [`measure`] looks at
//! one run, [`outcome`] at all of them, and [`output`] writes.

pub mod engine;
pub mod measure;
mod names;
pub mod outcome;
pub mod output;
pub mod run;
pub mod scenario;
pub mod shelf;
pub mod statistics;

/// Version and, where it was built from a repository, commit of this program.
pub const VERSION: &str = env!("WEFT_VERSION");

pub use scenario::{Scenario, ScenarioError};
