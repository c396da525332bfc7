use crate::PrivilegeError;
use crate::address::{MAX_HOSTS, MAX_LINKS};
use std::io;

/// Error: a network could not be started. Nothing remains of it.
#[derive(Debug, thiserror::Error)]
pub enum EmuError {
    /// The process has no permission to create namespaces or TUN devices.
    #[error(transparent)]
    NoPrivilege(#[from] PrivilegeError),
    /// More links than the address plan supports.
    #[error("an emulated network has at most {MAX_LINKS} links, not {0}: remove some")]
    TooManyLinks(usize),
    /// More hosts than the address plan supports.
    #[error("an emulated network has at most {MAX_HOSTS} hosts, not {0}: remove some")]
    TooManyHosts(usize),
    /// The program `ip` is missing.
    #[error("the program `ip` cannot be run: {0}: install iproute2")]
    NoIproute(#[source] io::Error),
    /// The program `ip` failed.
    #[error(
        "host {host}: `ip` refused to set up its links: {said}: install iproute2 4.15 or later \
         and a kernel with policy routing"
    )]
    IpRefused {
        /// Name of the host in the network, for messages.
        host: String,
        /// Error output of `ip`.
        said: String,
    },
    /// TCP's buffers cannot be enlarged to what the receive windows require.
    #[error(
        "{path}: {source}: a receive window needs larger TCP buffers: mount /proc/sys \
         writable, or run without the window"
    )]
    NoBuffers {
        /// Path of the setting.
        path: &'static str,
        /// System error.
        source: io::Error,
    },
    /// An unexpected system error.
    #[error("{what}: {source}: this needs a Linux kernel with namespaces and TUN")]
    System {
        /// Failed operation.
        what: String,
        /// System error.
        source: io::Error,
    },
}

impl EmuError {
    pub(crate) fn system(what: impl Into<String>, source: impl Into<io::Error>) -> EmuError {
        EmuError::System {
            what: what.into(),
            source: source.into(),
        }
    }
}
