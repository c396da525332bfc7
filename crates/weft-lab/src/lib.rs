//! The lab: scenario files, runs over systems and seeds, metrics, statistics,
//! reports.
//!
//! [`Scenario`] is what a file says, [`run`] runs it on all cores, and what
//! comes out is written by [`output`].

pub mod metrics;
pub mod outcome;
pub mod output;
pub mod run;
pub mod scenario;
pub mod shelf;
pub mod statistics;

pub use scenario::{Scenario, ScenarioError};
