use crate::RightError;
use crate::address::{MAX_HOSTS, MAX_LINKS};
use std::io;

/// A network that cannot be started. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum EmuError {
    /// The process may not make namespaces or TUN devices.
    #[error(transparent)]
    NoRight(#[from] RightError),
    /// More links than the address plan has room for.
    #[error("{0} links are more than an emulated network can have: at most {MAX_LINKS}")]
    TooManyLinks(usize),
    /// More hosts than the address plan has room for.
    #[error("{0} hosts are more than an emulated network can have: at most {MAX_HOSTS}")]
    TooManyHosts(usize),
    /// The program `ip` is not there.
    #[error("the program `ip` cannot be run: {0}: install iproute2")]
    NoIproute(#[source] io::Error),
    /// The program `ip` refused.
    #[error(
        "host {host}: `ip` refused to set up its links: {said}: is iproute2 4.15 or later \
         installed and the kernel's policy routing there?"
    )]
    IpRefused {
        /// Its number in the network, for messages.
        host: String,
        /// What `ip` wrote.
        said: String,
    },
    /// TCP's buffers cannot be made as large as receive windows need them.
    #[error(
        "{path}: {source}: a receive window needs TCP buffers that are larger: mount /proc/sys so \
         that it can be written, or run without the window"
    )]
    NoBuffers {
        /// The setting.
        path: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused something that it should not.
    #[error("{what}: {source}: this needs a Linux kernel with namespaces and TUN")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
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
