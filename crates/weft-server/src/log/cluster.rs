//! Changes of a cluster, for the log.

use super::level::Level;
use serde::Serialize;
use std::fmt;

/// Change of a cluster, as one of its servers sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ClusterChange {
    /// Another server was found.
    Found {
        /// Name of the server.
        node: String,
        /// Version of its weft.
        version: String,
    },
    /// A server has ended, or can no longer be heard.
    Lost {
        /// Name of the server.
        node: String,
    },
    /// A server has another token or signing key.
    OtherKeys {
        /// Name of the server.
        node: String,
    },
    /// A server has an incompatible version.
    OtherVersion {
        /// Name of the server.
        node: String,
        /// Version of its weft.
        version: String,
    },
    /// An older server has the name of this one, which has left the cluster.
    NameTaken,
    /// NATS does not answer: this server cannot hear the others.
    Unreachable,
    /// NATS answers again.
    Reachable,
    /// Tokens that another server has revoked could not be stored.
    NotStored {
        /// Message of the system.
        error: String,
    },
}

impl ClusterChange {
    pub(super) fn level(&self) -> Level {
        match self {
            ClusterChange::Found { .. } | ClusterChange::Lost { .. } | ClusterChange::Reachable => {
                Level::Info
            }
            _ => Level::Error,
        }
    }
}

impl fmt::Display for ClusterChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClusterChange::Found { node, version } => {
                write!(f, "server {node} joined (weft {version})")
            }
            ClusterChange::Lost { node } => write!(f, "server {node} left or died"),
            ClusterChange::OtherKeys { node } => write!(
                f,
                "ignoring server {node}, which has another --token or --token-key"
            ),
            ClusterChange::OtherVersion { node, version } => write!(
                f,
                "ignoring server {node}: its weft {version} does not work with this one"
            ),
            ClusterChange::NameTaken => f.write_str(
                "another server has the name of this one, which left the cluster: restart it \
                 with another --node",
            ),
            ClusterChange::Unreachable => f.write_str(
                "NATS does not answer: participants of other servers that come and go are not \
                 seen here",
            ),
            ClusterChange::Reachable => f.write_str("NATS answers again"),
            ClusterChange::NotStored { error } => {
                write!(f, "cannot store revoked tokens of another server: {error}")
            }
        }
    }
}
