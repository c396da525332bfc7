//! Errors of engines.

/// Reason why a run is impossible or failed. The text has the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// The machine or this version lacks a requirement, so no run can succeed.
    #[error("{0}")]
    Lacking(String),
    /// This run failed.
    #[error("{0}")]
    Run(String),
}
