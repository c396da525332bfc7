//! Error of an import.

use std::io;

/// Error: a file could not be read as a recording; the text has location and remedy.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {what}: {remedy}")]
pub struct ImportError {
    place: String,
    what: String,
    remedy: String,
}

impl ImportError {
    /// Creates an error with the file and the location in it.
    pub fn new(place: &str, what: impl Into<String>, remedy: impl Into<String>) -> ImportError {
        ImportError {
            place: place.to_owned(),
            what: what.into(),
            remedy: remedy.into(),
        }
    }

    /// Creates the error of a file that the system cannot read.
    pub fn unreadable(place: &str, error: &io::Error) -> ImportError {
        ImportError::new(
            place,
            error.to_string(),
            "give the path of a file that you may read",
        )
    }
}
