use std::path::{Path, PathBuf};

/// Reason why a recording ended early.
#[derive(Debug, thiserror::Error)]
pub enum RecorderError {
    /// The file cannot be created.
    #[error("recording `{}`: {reason}; choose an existing directory that you may write to", .path.display())]
    Create {
        /// Path, as given.
        path: PathBuf,
        /// System error.
        reason: std::io::Error,
    },
    /// Writing to the file failed; its contents stay playable.
    #[error("recording `{}`: {reason}", .path.display())]
    Write {
        /// Path, as given.
        path: PathBuf,
        /// System error, or the library's error without one.
        reason: std::io::Error,
    },
}

impl RecorderError {
    pub(crate) fn write(path: &Path, reason: std::io::Error) -> RecorderError {
        let path = path.to_owned();
        RecorderError::Write { path, reason }
    }
}
