use super::keys::KEYS;
use crate::{GeneratedError, TraceError};

/// A link specification that cannot be used; the message names the place and
/// the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// Not `key=value`.
    #[error("'{item}' in a link specification is not KEY=VALUE: write for example rate=5mbit")]
    NotKeyValue {
        /// What was written.
        item: String,
    },
    /// No such key.
    #[error("'{key}' is not a key of a link specification: the keys are {}", KEYS.join(", "))]
    UnknownKey {
        /// What was written.
        key: String,
    },
    /// No such key of a cell, or of a station.
    #[error("'{key}' is no key here: the keys are {known}")]
    NoSuchKey {
        /// What was written.
        key: String,
        /// What there is.
        known: String,
    },
    /// A key was given twice.
    #[error("'{key}' is given twice in the link specification: keep one")]
    Repeated {
        /// As it stands before the `=`.
        key: &'static str,
    },
    /// A key that must be there is not.
    #[error("the link specification has no '{key}': add for example {example}")]
    Missing {
        /// As it stands before the `=`.
        key: &'static str,
        /// A value that would do.
        example: &'static str,
    },
    /// The value of a key does not fit.
    #[error("{key}={value}: {remedy}")]
    BadValue {
        /// As it stands before the `=`.
        key: &'static str,
        /// What was written.
        value: String,
        /// What can be written.
        remedy: &'static str,
    },
    /// The file of a trace could not be read.
    #[error("trace={file} cannot be read: {cause}: check the path")]
    TraceUnread {
        /// What was written.
        file: String,
        /// What the reader said.
        cause: String,
    },
    /// A trace in a file, where no file is read.
    #[error("trace={file}: no file is read here: write rate=5mbit or trace=generated:walking/lte")]
    NoFiles {
        /// What was written.
        file: String,
    },
    /// The trace in a file cannot be played.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// No such generated trace.
    #[error(transparent)]
    Generated(#[from] GeneratedError),
    /// Capacity was given twice.
    #[error("the link specification has both rate and trace: keep one")]
    RateAndTrace,
}

impl SpecError {
    /// The key whose value is to be changed; `None` where it is the whole.
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
