//! Which program is under test, and what is started at the ends of a call.

pub mod camera;
mod exec;
mod lines;
mod programs;
pub mod scratch;
pub mod weft;

use std::fmt;
use std::str::FromStr;

use weft_experiment::{CallSetup, FlowSetup};

use super::testbed::job::{Ends, Job};
use crate::engine::EngineError;
use camera::CallFiles;
use programs::{built, folder};

/// The program at the ends of the calls under test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Client {
    /// weft itself: `weft join` at both ends, a server at the far one.
    Weft,
    /// Two browsers.
    Chromium,
    /// Two endpoints of Pion, with its congestion control.
    Pion,
    /// Two endpoints of aiortc.
    Aiortc,
    /// A shell command, started at both ends.
    Exec(String),
}

/// There is no such client.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no client `{0}`: write weft, chromium, pion, aiortc or exec:COMMAND")]
pub struct UnknownClient(String);

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Client, UnknownClient> {
        match (text, text.strip_prefix("exec:").map(str::trim)) {
            ("weft", _) => Ok(Client::Weft),
            ("chromium", _) => Ok(Client::Chromium),
            ("pion", _) => Ok(Client::Pion),
            ("aiortc", _) => Ok(Client::Aiortc),
            (_, Some(command)) if !command.is_empty() => Ok(Client::Exec(command.to_owned())),
            _ => Err(UnknownClient(text.to_owned())),
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Client::Exec(command) => write!(f, "exec:{command}"),
            _ => f.write_str(self.name()),
        }
    }
}

impl Client {
    /// The name in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Client::Weft => "weft",
            Client::Chromium => "chromium",
            Client::Pion => "pion",
            Client::Aiortc => "aiortc",
            Client::Exec(_) => "exec",
        }
    }

    /// Whether its programs are here.
    ///
    /// # Errors
    /// What is missing, with the remedy.
    pub fn find(&self) -> Result<(), EngineError> {
        self.program().map(drop)
    }

    /// How an end of a call is started, for those that speak lines of JSON
    /// (`clients/README.md`).
    ///
    /// # Errors
    /// Where something is missing, with the remedy.
    fn program(&self) -> Result<Option<Vec<String>>, EngineError> {
        let words = match self {
            Client::Weft | Client::Exec(_) => return Ok(None),
            Client::Chromium => vec![
                "node".to_owned(),
                folder()?.join("chromium/main.mjs").display().to_string(),
            ],
            Client::Pion => vec![built(
                &folder()?.join("pion"),
                "pion",
                "go build -o pion ./lab",
            )?],
            Client::Aiortc => {
                let folder = folder()?.join("aiortc");
                vec![
                    built(
                        &folder,
                        "venv/bin/python",
                        "python3 -m venv venv && venv/bin/pip install -r requirements.txt",
                    )?,
                    folder.join("main.py").display().to_string(),
                ]
            }
        };
        Ok(Some(words))
    }

    /// The programs of a call.
    ///
    /// # Errors
    /// When the client cannot make such a call, or is not there.
    pub(super) fn jobs(
        &self,
        (flow, setup, call): (usize, &FlowSetup, &CallSetup),
        ends: &Ends,
        files: &CallFiles<'_>,
    ) -> Result<Vec<Job>, EngineError> {
        match self {
            Client::Weft => weft::jobs((flow, call), ends, files.scratch),
            Client::Exec(command) => Ok(exec::jobs(command, flow, ends)),
            Client::Chromium | Client::Pion | Client::Aiortc => {
                let program = self.program()?.unwrap_or_default();
                lines::jobs((self.name(), &program), (flow, setup, call), files)
            }
        }
    }
}
