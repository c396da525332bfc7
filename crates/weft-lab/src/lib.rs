//! The lab: scenario files, runs over systems and seeds, metrics, statistics,
//! reports.
//!
//! [`Scenario`] is what a file says. [`run`] makes a plan of it and an
//! [`engine`] the record of each run, [`measure`] looks at one of them,
//! [`outcome`] at all together, and [`output`] writes.

#![forbid(unsafe_code)]

pub mod campaign;
pub mod engine;
mod figures;
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
