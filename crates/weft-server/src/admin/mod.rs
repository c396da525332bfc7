//! Operator access to a running server: a Unix socket that only its user can
//! open, with one line of JSON per question and answer.

mod socket;

pub(crate) use socket::{Admin, Listening};

use crate::auth::TokenId;
use crate::report::RoomReport;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder of the sockets in the server's state folder.
const FOLDER: &str = "admin";
/// Maximum length of a question. Chosen by us: names and a token.
const LONGEST_QUESTION: u64 = 16 * 1024;
/// Maximum length of an answer: a thousand full rooms of long names. Chosen by us.
const LONGEST_ANSWER: u64 = 256 << 20;
/// Timeout for the other side. Chosen by us.
const PATIENCE: Duration = Duration::from_secs(10);

/// Question to a running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
pub enum Order {
    /// Lists rooms and participants.
    List,
    /// Removes a participant from a room.
    Remove {
        /// Name of the room.
        room: String,
        /// Id or name of the participant.
        participant: String,
        /// Time for which the participant cannot return, in seconds.
        seconds: u64,
    },
    /// Removes everybody from a room.
    Close {
        /// Name of the room.
        room: String,
        /// Time for which nobody can enter, in seconds; zero opens a closed
        /// room.
        seconds: u64,
    },
    /// Opens a closed room; removes nobody.
    Open {
        /// Name of the room.
        room: String,
    },
    /// Mutes a participant until they unmute themselves.
    Mute {
        /// Name of the room.
        room: String,
        /// Id or name of the participant.
        participant: String,
    },
    /// Revokes a signed token.
    Revoke {
        /// The token, or its id.
        token: String,
    },
}

/// Answer of a running server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Rooms with participants, and closed rooms.
    Rooms(Vec<RoomReport>),
    /// The participant was removed.
    Removed {
        /// Id of the participant in the room.
        id: String,
        /// Name that the others saw.
        name: String,
    },
    /// The server forwards no sound of the participant until they unmute
    /// themselves.
    Muted {
        /// Id of the participant in the room.
        id: String,
        /// Name that the others see.
        name: String,
    },
    /// The room is open.
    Opened {},
    /// The room was closed.
    Closed {
        /// Number of participants who were removed.
        removed: usize,
    },
    /// The token was revoked.
    Revoked {
        /// Id of the token.
        id: TokenId,
        /// Number of participants who were removed.
        removed: usize,
    },
    /// The request had no effect.
    Refused {
        /// Problem, a sentence.
        error: String,
        /// Remedy, a sentence.
        remedy: String,
    },
}

/// Sockets of the servers that keep their state in this folder, running or not,
/// each with the server's address.
///
/// # Errors
/// If the folder cannot be read. A missing folder has no sockets.
pub fn admin_sockets(state: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let entries = match std::fs::read_dir(state.join(FOLDER)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(address) = name.and_then(|name| name.strip_suffix(".sock")) {
            found.push((address.to_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}

/// Sends a question to the server behind a socket.
///
/// # Errors
/// [`io::ErrorKind::ConnectionRefused`] if no server runs behind it; another
/// kind if this user has no permission, or the answer is invalid.
pub fn admin_ask(socket: &Path, order: &Order) -> io::Result<Answer> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(order)?;
    line.push('\n');
    stream.write_all(line.as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream.take(LONGEST_ANSWER)).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}
