//! Why there is no run.

/// Why something cannot be run, or went wrong. The text has the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// The machine or this version lacks something: no run will do better.
    #[error("{0}")]
    Lacking(String),
    /// This run went wrong.
    #[error("{0}")]
    Run(String),
}
