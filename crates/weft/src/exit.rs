//! What a command says, and how it ends.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stderr, stdout};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use weft_endpoint::connect::ConnectError;
use weft_endpoint::signalling::with_remedy;
use weft_endpoint::{Blame, Notices, RecordingError, StartError};
use weft_lab::engine::EngineError;
use weft_server::ServerError;

use crate::options;

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
    /// It was asked to end: 128 and the signal's number, as shells have it.
    #[error("ended by signal {0}")]
    Stopped(i32),
    /// A program that was run for the user failed: its own exit status, or
    /// 128 and the signal's number, as shells have it.
    #[error("the program inside ended with {status}")]
    Program {
        /// What it ended with.
        status: ExitStatus,
    },
}

/// Writes a line to standard output. A reader that has seen enough (`| head`)
/// is no failure.
pub fn say(line: impl Display) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error, as `eprintln!` does, which panics where
/// nobody takes it any more: a call outlives the terminal it was started in.
macro_rules! complain {
    ($($words:tt)*) => {
        $crate::exit::write_complaint(format_args!($($words)*))
    };
}

/// Notices go to standard error.
pub fn notices() -> Notices {
    Notices::new(|notice| complain!("weft: {}", options::of_notice(&notice)))
}

pub fn write_complaint(line: std::fmt::Arguments<'_>) {
    // There is nobody to tell that nobody listens.
    let _ = writeln!(stderr(), "{line}");
}

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Failure {
        let words = with_remedy(&error.to_string(), &error.remedy());
        match error {
            ServerError::NotAllowed { .. }
            | ServerError::NotKept { .. }
            | ServerError::System { .. } => Failure::Machine(words),
            _ => Failure::Usage(words),
        }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Failure {
        let words = options::of_start(&error);
        match error.blame() {
            Blame::Configuration => Failure::Usage(words),
            Blame::Machine => Failure::Machine(words),
        }
    }
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Failure {
        match error {
            RecordingError::Incomplete(_) => Failure::run(error),
            _ => Failure::Usage(format!("--record {error}")),
        }
    }
}

impl From<ConnectError> for Failure {
    fn from(error: ConnectError) -> Failure {
        match error {
            ConnectError::Signalling(error) if error.is_of_asker() => {
                Failure::Usage(options::of_signalling(&error))
            }
            ConnectError::Signalling(error) => Failure::Run(options::of_signalling(&error)),
            error @ (ConnectError::Call(_) | ConnectError::Unanswered) => Failure::run(error),
        }
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        match error {
            EngineError::Lacking(text) => Failure::Machine(text),
            EngineError::Run(text) => Failure::Run(text),
        }
    }
}

impl Failure {
    pub fn run(error: impl Display) -> Failure {
        Failure::Run(error.to_string())
    }

    pub fn usage(error: impl Display) -> Failure {
        Failure::Usage(error.to_string())
    }

    pub fn machine(error: impl Display) -> Failure {
        Failure::Machine(error.to_string())
    }

    pub fn program(status: ExitStatus) -> Failure {
        Failure::Program { status }
    }

    pub fn code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Run(_) => 1,
            Failure::Usage(_) => 2,
            Failure::Machine(_) => 3,
            Failure::Stopped(signal) => u8::try_from(128 + signal).unwrap_or(1),
            Failure::Program { status } => {
                let signal = status.signal().map(|signal| 128 + signal);
                let code = status.code().or(signal).unwrap_or(1);
                u8::try_from(code).unwrap_or(1)
            }
        })
    }
}
