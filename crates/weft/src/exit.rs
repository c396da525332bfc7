//! Output and exit status of a command.

use std::fmt::Display;
use std::io::{ErrorKind, Write as _, stderr, stdout};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{ExitCode, ExitStatus};

use weft_endpoint::connect::ConnectError;
use weft_endpoint::signalling::with_remedy;
use weft_endpoint::{Blame, Notices, RecordingError, StartError};
use weft_lab::engine::EngineError;
use weft_server::ServerError;
use weft_units::{is_printable, printable};

use crate::options;

/// Reason why a command failed. The text gives the location and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The run started and failed: exit status 1.
    #[error("{0}")]
    Run(String),
    /// An argument or file is invalid: exit status 2.
    #[error("{0}")]
    Usage(String),
    /// This machine lacks a requirement: exit status 3.
    #[error("{0}")]
    Machine(String),
    /// The command was stopped by a signal: 128 plus its number, as in shells.
    #[error("ended by signal {0}")]
    Stopped(i32),
    /// A program that ran for the user failed: its own exit status, or 128 plus the
    /// signal's number, as in shells.
    #[error("the program inside ended with {status}")]
    Program {
        /// Status of the program.
        status: ExitStatus,
    },
}

/// Writes at least one line to standard output. Removes control characters that
/// could affect the terminal ([`printable`]). A reader that closes the pipe
/// (`| head`) is not a failure.
pub fn say(text: impl Display) -> Result<(), Failure> {
    write_out(&lines_of(&text.to_string()))
}

/// Writes JSON to standard output, with the same rules.
pub fn say_json(json: impl Display) -> Result<(), Failure> {
    write_out(&json_for_terminals(&json.to_string()))
}

fn write_out(text: &str) -> Result<(), Failure> {
    let mut out = stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Run(format!("standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Sanitises each line of the text; untrusted text in it has no line breaks.
fn lines_of(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|l| printable(l).to_string()).collect();
    lines.join("\n")
}

/// Returns the JSON with escapes for characters that a terminal would not print.
pub fn json_for_terminals(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        if is_printable(character) || character == '\n' {
            text.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    text
}

/// Writes a text to standard error. Unlike `eprintln!` it does not panic if the
/// reader is gone: a call may outlive its terminal. Removes control characters
/// that could affect the terminal ([`printable`]).
macro_rules! complain {
    ($($words:tt)*) => {
        $crate::exit::write_complaint(format_args!($($words)*))
    };
}

/// Notices for standard error.
pub fn notices() -> Notices {
    Notices::new(|notice| complain!("weft: {}", options::of_notice(&notice)))
}

pub fn write_complaint(line: std::fmt::Arguments<'_>) {
    // A write error cannot be reported anywhere.
    let _ = writeln!(stderr(), "{}", lines_of(&line.to_string()));
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
            error => Failure::run(error),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_json_of_others_tell_a_terminal_nothing() {
        assert_eq!(
            lines_of("a\u{1b}[2J\nb\u{202e}é"),
            "a\\u{1b}[2J\nb\\u{202e}é"
        );
        let value = serde_json::json!({ "a": "\u{1b}\u{9b}2J\u{202e}\u{e0041}é\n" });
        let printed = json_for_terminals(&format!("{value:#}"));
        assert!(
            printed.contains(r"\u001b\u009b2J\u202e\udb40\udc41é\n"),
            "{printed}"
        );
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&printed).ok(),
            Some(value)
        );
    }
}
