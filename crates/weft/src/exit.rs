//! How a command ends.

use std::process::ExitCode;

/// Why a command did not do what it was asked to. The text says where and
/// what to do.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The run was begun and went wrong: exit status 1.
    #[error("{0}")]
    Run(String),
    /// An argument or file is wrong: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// This machine cannot do it: exit status 3.
    #[error("{0}")]
    Machine(String),
}

impl Failure {
    pub fn run(error: impl std::fmt::Display) -> Failure {
        Failure::Run(error.to_string())
    }

    pub fn usage(error: impl std::fmt::Display) -> Failure {
        Failure::Usage(error.to_string())
    }

    pub fn machine(error: impl std::fmt::Display) -> Failure {
        Failure::Machine(error.to_string())
    }

    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Run(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Machine(_) => 3,
        })
    }
}
