use super::keys::KEYS;
use crate::{GeneratedError, TraceError};

/// Invalid link specification; the message names the place and the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// Text without the form `key=value`.
    #[error("'{item}' in a link specification is not KEY=VALUE: write for example rate=5mbit")]
    NotKeyValue {
        /// Text as written.
        item: String,
    },
    /// Unknown key.
    #[error("'{key}' is not a key of a link specification: the keys are {}", KEYS.join(", "))]
    UnknownKey {
        /// Key as written.
        key: String,
    },
    /// Unknown key of a cell or a station.
    #[error("'{key}' is not a key here: the keys are {known}")]
    NoSuchKey {
        /// Key as written.
        key: String,
        /// Known keys.
        known: String,
    },
    /// Repeated key.
    #[error("'{key}' is given twice in the link specification: keep one")]
    Repeated {
        /// Key, without the `=`.
        key: &'static str,
    },
    /// Missing required key.
    #[error("the link specification has no '{key}': add for example {example}")]
    Missing {
        /// Key, without the `=`.
        key: &'static str,
        /// Valid value.
        example: &'static str,
    },
    /// Invalid value of a key.
    #[error("{key}={value}: {remedy}")]
    BadValue {
        /// Key, without the `=`.
        key: &'static str,
        /// Value as written.
        value: String,
        /// Valid values.
        remedy: &'static str,
    },
    /// Unreadable trace file.
    #[error("trace={file} cannot be read: {cause}: check the path")]
    TraceUnread {
        /// File name as written.
        file: String,
        /// Error of the reader.
        cause: String,
    },
    /// Trace file in a context that reads no files.
    #[error("trace={file}: no file is read here: write rate=5mbit or trace=generated:walking/lte")]
    NoFiles {
        /// File name as written.
        file: String,
    },
    /// Invalid trace file.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// Unknown generated trace.
    #[error(transparent)]
    Generated(#[from] GeneratedError),
    /// Capacity given twice.
    #[error("the link specification has both rate and trace: keep one")]
    RateAndTrace,
}

impl SpecError {
    /// Returns the key of the wrong value; `None` if the whole specification is wrong.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            SpecError::UnknownKey { key } | SpecError::NoSuchKey { key, .. } => Some(key),
            SpecError::Repeated { key } | SpecError::BadValue { key, .. } => Some(key),
            SpecError::TraceUnread { .. }
            | SpecError::NoFiles { .. }
            | SpecError::Trace(_)
            | SpecError::Generated(_) => Some("trace"),
            SpecError::NotKeyValue { .. } | SpecError::Missing { .. } | SpecError::RateAndTrace => {
                None
            }
        }
    }
}
