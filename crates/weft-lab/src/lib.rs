//! The lab: scenario files, runs over systems and seeds, metrics, statistics,
//! reports.
//!
//! [`Scenario`] is the content of a file. [`run`] plans its runs, an [`engine`] makes the
//! record of each run, [`measure`] evaluates one run, [`outcome`] evaluates all runs
//! together, and [`output`] writes the results. [`recording`] reads real calls for the
//! same report.

#![forbid(unsafe_code)]

#[cfg(feature = "emulator")]
pub mod campaign;
pub mod catalogue;
pub mod engine;
mod figures;
pub mod measure;
mod names;
pub mod outcome;
pub mod output;
pub mod recording;
pub mod run;
pub mod scenario;
pub mod statistics;
pub mod table;

/// Version of this program, with the commit if it was built from a repository.
pub const VERSION: &str = env!("WEFT_VERSION");

pub use names::unknown_name;
pub use scenario::{Scenario, ScenarioError};
