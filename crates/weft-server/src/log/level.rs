//! Verbosity of the log.

use serde::Serialize;

/// Verbosity of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Faults that stop the server from working.
    Error,
    /// Arrivals, departures and refusals.
    Info,
    /// Every media connection.
    Debug,
}
