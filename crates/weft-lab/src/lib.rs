//! The lab: scenario files, runs over systems and seeds, metrics, statistics,
//! reports.
//!
//! [`Scenario`] is what a file says, [`run`] runs it in virtual time on all
//! cores, [`emu`] with real packets and clients, and what comes out is written
//! by [`output`].

pub mod emu;
pub mod metrics;
pub mod outcome;
pub mod output;
pub mod run;
pub mod scenario;
pub mod shelf;
pub mod statistics;

/// Version and, where it was built from a repository, commit of this program.
pub const VERSION: &str = env!("WEFT_VERSION");

pub use scenario::{Scenario, ScenarioError};
