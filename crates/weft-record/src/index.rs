//! Index of a recording: its tracks and their start times.

use crate::error::RecorderError;
use crate::webm::private_file;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::Path;

/// Maximum size of an index in octets: [`MAX_FILES`](crate::recording::MAX_FILES) entries
/// with names of maximum length. Chosen by us.
const MAX_INDEX: u64 = 4_000_000;

/// Contents of `index.json` in the folder of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Index {
    /// Name of the room.
    pub room: String,
    /// Start of the recording, in UTC (RFC 3339).
    pub started: String,
    /// Length of the recording in milliseconds; `None` while it runs, or if the server was
    /// killed.
    pub length_ms: Option<u64>,
    /// Reason why the recording ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Packets that are missing because the disk was too slow.
    #[serde(default)]
    pub lost_packets: u64,
    /// Name of the film in the folder, if one was composed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub film: Option<String>,
    /// Files, in order of their start.
    pub tracks: Vec<TrackEntry>,
}

/// File of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrackEntry {
    /// Name of the file in the folder of the recording.
    pub file: String,
    /// Id of the participant in the room.
    pub participant: String,
    /// Name of the participant.
    pub name: String,
    /// Kind of track.
    pub kind: TrackKind,
    /// Codec, as in session descriptions.
    pub codec: String,
    /// Time of its first frame, in milliseconds after the start of the recording.
    pub start_ms: u64,
    /// Time of its last frame, in milliseconds after its first one; `None` while it runs,
    /// or if the server was killed.
    pub length_ms: Option<u64>,
}

/// Kind of a recorded track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrackKind {
    /// Camera.
    Camera,
    /// Shared screen.
    Screen,
    /// Microphone, or the sound of a screen.
    Microphone,
}

impl TrackKind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            TrackKind::Camera => "camera",
            TrackKind::Screen => "screen",
            TrackKind::Microphone => "microphone",
        }
    }
}

/// Reason why an index cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// The file is not an index.
    #[error("{0}")]
    Parse(#[from] serde_json::Error),
    /// The file cannot be replaced.
    #[error("{0}")]
    Write(String),
}

impl Index {
    /// Name of the file.
    pub const FILE: &str = "index.json";
    /// Name of the film that is composed into the folder.
    pub const FILM: &str = "film.webm";

    /// Reads the index of the recording in a folder.
    ///
    /// # Errors
    /// If the file cannot be read or is not an index.
    pub fn read(folder: &Path) -> Result<Index, IndexError> {
        let file = std::fs::File::open(folder.join(Index::FILE))?;
        let file = std::io::BufReader::new(std::io::Read::take(file, MAX_INDEX));
        Ok(serde_json::from_reader(file)?)
    }

    /// Adds the film to the index of the recording in a folder.
    ///
    /// # Errors
    /// If the index cannot be read or written; the old one remains.
    pub fn add_film(folder: &Path) -> Result<(), IndexError> {
        let mut index = Index::read(folder)?;
        index.film = Some(Index::FILM.to_owned());
        let written = index.write(folder);
        written.map_err(|error| IndexError::Write(error.to_string()))
    }

    /// Replaces the index of the recording in a folder: a reader, or a server that
    /// restarts after a crash, sees either the old or the new one.
    ///
    /// # Errors
    /// If it cannot be written; the old one remains.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), RecorderError> {
        let path = folder.join(Index::FILE);
        let new = folder.join("index.json.new");
        let failed = |reason| RecorderError::write(&path, reason);
        let mut text = serde_json::to_vec_pretty(self).map_err(std::io::Error::from);
        if let Ok(text) = &mut text {
            text.push(b'\n');
        }
        let text = text.map_err(failed)?;
        // A failed write to a full disk may have left this file.
        let _ = std::fs::remove_file(&new);
        let written = private_file(&new).and_then(|mut file| file.write_all(&text));
        let renamed = written.and_then(|()| std::fs::rename(&new, &path));
        renamed.map_err(|reason| {
            let _ = std::fs::remove_file(&new);
            failed(reason)
        })
    }
}
