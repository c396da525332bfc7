//! Which program is under test.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use super::EmuError;

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
    pub fn find(&self) -> Result<(), EmuError> {
        self.program().map(drop)
    }

    /// How an end of a call is started, for those that speak lines of JSON
    /// (`clients/README.md`).
    ///
    /// # Errors
    /// Where something is missing, with the remedy.
    pub(super) fn program(&self) -> Result<Option<Vec<String>>, EmuError> {
        let words = match self {
            Client::Weft | Client::Exec(_) => return Ok(None),
            Client::Chromium => vec!["node".to_owned(), file("chromium/main.mjs")?],
            Client::Pion => vec![built(
                "pion/pion",
                "(cd clients/pion && go build -o pion .)",
            )?],
            Client::Aiortc => vec![
                built(
                    "aiortc/venv/bin/python",
                    "python3 -m venv clients/aiortc/venv && clients/aiortc/venv/bin/pip install -r clients/aiortc/requirements.txt",
                )?,
                file("aiortc/main.py")?,
            ],
        };
        Ok(Some(words))
    }
}

/// Where the clients stand: `WEFT_CLIENTS`, the working directory, or beside
/// the checkout that this program was built in.
fn file(name: &str) -> Result<String, EmuError> {
    let named = std::env::var_os("WEFT_CLIENTS").map(PathBuf::from);
    let here = PathBuf::from("clients");
    let own = std::env::current_exe().unwrap_or_default();
    let above = own.ancestors().map(|folder| folder.join("clients"));
    let mut folders = named.into_iter().chain([here]).chain(above);
    let found = folders.find(|folder| folder.join("README.md").exists());
    let Some(folder) = found else {
        let text = "the folder `clients` of weft's sources is not found: run in a checkout of weft, \
                    or set WEFT_CLIENTS to that folder";
        return Err(EmuError::Lacking(text.to_owned()));
    };
    let folder = folder.canonicalize().unwrap_or(folder);
    Ok(folder.join(name).display().to_string())
}

/// A program that has to be built or installed first.
fn built(name: &str, command: &str) -> Result<String, EmuError> {
    let path = file(name)?;
    if PathBuf::from(&path).exists() {
        return Ok(path);
    }
    Err(EmuError::Lacking(format!(
        "{path} is not there: run `make setup`, or {command}"
    )))
}
