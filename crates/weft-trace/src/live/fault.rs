//! Reasons why a trace is incomplete.

use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, io};

/// Kind of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceKind {
    /// Packets, as pcapng.
    Packets,
    /// Events, as qlog.
    Events,
}

impl TraceKind {
    /// Extension of its files.
    pub(super) const fn extension(self) -> &'static str {
        match self {
            TraceKind::Packets => "pcapng",
            TraceKind::Events => "sqlog",
        }
    }
}

impl fmt::Display for TraceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TraceKind::Packets => "packets",
            TraceKind::Events => "events",
        })
    }
}

/// Reason why a trace is incomplete. The call is not affected.
#[derive(Debug, thiserror::Error)]
pub enum TraceFault {
    /// Writing to the file failed. The file ends with its last complete entry.
    #[error("{path}: {error}; the trace ends here", path = path.display())]
    Failed {
        /// File.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The disk is too slow. The file says where entries are missing.
    #[error(
        "{path}: the disk is too slow; missing {kind} so far: {dropped}; write to a faster disk",
        path = path.display()
    )]
    Dropped {
        /// File.
        path: PathBuf,
        /// Kind of the entries.
        kind: TraceKind,
        /// Number of missing entries so far.
        dropped: u64,
    },
    /// The disk did not answer at the end of the call.
    #[error("{path}: the disk does not answer, so the end of the trace is missing", path = path.display())]
    Unfinished {
        /// File.
        path: PathBuf,
    },
}

/// Callback for faults, called on the thread of a file: once when the first entry is
/// missing, and once when the file cannot be written any more.
pub type OnFault = Arc<dyn Fn(&TraceFault) + Send + Sync>;
