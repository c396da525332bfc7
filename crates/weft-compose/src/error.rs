use std::path::PathBuf;
use weft_media::{OpusError, VideoError};
use weft_record::{IndexError, RecorderError};

/// Reason why the film could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    /// The folder has no usable index.
    #[error(
        "{path}: {reason}; give the folder of one recording, which has an index.json",
        path = .path.display()
    )]
    Index {
        /// Path of the index.
        path: PathBuf,
        /// Reason of the failure.
        reason: IndexError,
    },
    /// No file of the recording can be read.
    #[error(
        "{folder}: none of the recording's {listed} files can be read{}",
        .notes.iter().map(|note| format!("; {note}")).collect::<String>(),
        folder = .folder.display()
    )]
    NothingToShow {
        /// Folder of the recording.
        folder: PathBuf,
        /// Files that the index lists.
        listed: usize,
        /// Reason for each file.
        notes: Vec<String>,
    },
    /// The options are inconsistent.
    #[error("{0}")]
    Options(String),
    /// The film exists already.
    #[error("{path} exists: move it away, or name another --output", path = .0.display())]
    Exists(PathBuf),
    /// The film cannot be written.
    #[error("{0}; the recorded files are complete")]
    Write(#[from] RecorderError),
    /// The film is complete, but cannot be renamed.
    #[error("{path} cannot be renamed: {reason}", path = .path.display())]
    Rename {
        /// Path of the complete film.
        path: PathBuf,
        /// Reason of the failure.
        reason: std::io::Error,
    },
    /// The encoder of the pictures failed.
    #[error(transparent)]
    Pictures(#[from] VideoError),
    /// The encoder of the sound failed.
    #[error(transparent)]
    Sound(#[from] OpusError),
}
