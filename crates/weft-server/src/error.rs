use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use thiserror::Error;
use weft_forwarding::MAX_PLANES;

/// Reason why a server does not start. [`ServerError::remedy`] names the
/// remedy.
#[derive(Debug, Error)]
pub enum ServerError {
    /// Another program listens there.
    #[error("another program uses {address}")]
    PortTaken {
        /// Configured address; port 0 takes a free one.
        address: SocketAddr,
    },
    /// No interface of this machine has the address.
    #[error("this machine has no address {}", address.ip())]
    AddressUnavailable {
        /// Configured address; port 0 takes a free one.
        address: SocketAddr,
    },
    /// No interface has this name, or it has no address.
    #[error("this machine has no interface '{name}' with an address")]
    NoInterface {
        /// Configured name.
        name: String,
    },
    /// The system denies listening there.
    #[error("listening on {address} is not allowed")]
    NotAllowed {
        /// Configured address; port 0 takes a free one.
        address: SocketAddr,
    },
    /// Another problem with listening.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Configured address; port 0 takes a free one.
        address: SocketAddr,
        /// Error of the system.
        source: io::Error,
    },
    /// A certificate or key file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    CertificateUnreadable {
        /// Configured path.
        path: PathBuf,
        /// Reason as text.
        reason: String,
    },
    /// Certificate and key are readable, but unusable.
    #[error("the certificate in {} cannot be used: {reason}", path.display())]
    CertificateUnusable {
        /// File of the certificate.
        path: PathBuf,
        /// Reason as text.
        reason: String,
    },
    /// The file of the signing key cannot be used.
    #[error("cannot use the signing key of tokens in {}: {reason}", path.display())]
    KeyUnreadable {
        /// Configured path.
        path: PathBuf,
        /// Reason as text.
        reason: String,
    },
    /// The list of revoked tokens cannot be used.
    #[error("cannot read the list of revoked tokens in {}: {reason}", path.display())]
    ListUnreadable {
        /// File of the list.
        path: PathBuf,
        /// Reason as text.
        reason: String,
    },
    /// A generated file cannot be written.
    #[error("cannot store the server's {what} in {}: {reason}", path.display())]
    NotKept {
        /// Kind of file.
        what: &'static str,
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        reason: String,
    },
    /// Every origin is allowed, and no token is required.
    #[error(
        "pages of every origin may use the server (allowed origin `*`), and it requires no token"
    )]
    OpenToAnyOrigin,
    /// There are more media threads than the maximum.
    #[error("{0} media threads are too many")]
    TooManyThreads(usize),
    /// The folder of recordings cannot be written.
    #[error("rooms cannot be recorded in `{}`: {reason}", .folder.display())]
    Recordings {
        /// Folder, as given.
        folder: PathBuf,
        /// Error of the system.
        reason: io::Error,
    },
    /// The server cannot join its cluster.
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    /// The system provides no thread or no random numbers.
    #[error("the system refused a resource that the server needs: {reason}")]
    System {
        /// Error of the system.
        reason: String,
    },
}

/// Reason why a server cannot join its cluster.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClusterError {
    /// NATS does not answer at this address.
    #[error("cannot reach NATS at {nats}: {reason}")]
    Unreachable {
        /// Scheme, host and port.
        nats: String,
        /// Message of the system.
        reason: String,
    },
    /// NATS is addressed with TLS and does not use it.
    #[error("NATS at {nats} does not use TLS")]
    WithoutTls {
        /// Scheme, host and port.
        nats: String,
    },
    /// NATS refuses the login.
    #[error("NATS at {nats} refuses the login")]
    Denied {
        /// Scheme, host and port.
        nats: String,
    },
    /// Another server has this name.
    #[error("the cluster has a server with the name '{node}' already")]
    NameTaken {
        /// Name of both servers.
        node: String,
    },
    /// A server of the cluster uses another version of the messages.
    #[error(
        "server '{node}' of the cluster runs weft {version}, which does not work with this one"
    )]
    OtherVersion {
        /// Name of the other server.
        node: String,
        /// Its version.
        version: String,
    },
    /// A server of the cluster has other token keys.
    #[error("server '{node}' of the cluster has another token or signing key")]
    OtherKeys {
        /// Name of the other server.
        node: String,
    },
}

impl ClusterError {
    fn remedy(&self) -> String {
        match self {
            ClusterError::Unreachable { .. } => {
                "Start nats-server there, check the address and the firewall, or leave out --cluster."
            }
            ClusterError::WithoutTls { .. } => {
                "Write nats:// instead of tls:// in --cluster, or give nats-server a certificate."
            }
            ClusterError::Denied { .. } => {
                "Check user and password in --cluster, or the file of --cluster-login."
            }
            ClusterError::NameTaken { .. } => {
                "Give every server its own name with --node. If the other one has just been killed, try again in 3 s."
            }
            ClusterError::OtherVersion { .. } => {
                "Run the same version of weft on all servers, or give this one another cluster: --cluster nats://HOST/NAME."
            }
            ClusterError::OtherKeys { .. } => {
                "Give all servers of a cluster the same --token and --token-key, or this one another cluster: --cluster nats://HOST/NAME."
            }
        }
        .to_owned()
    }
}

impl ServerError {
    /// Remedy for the operator, a sentence.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            ServerError::PortTaken { address } => format!(
                "Stop the other program (`ss -ltnup 'sport = :{}'` shows it), or choose another port with the option that names this one, such as --listen or --media-port.",
                address.port()
            ),
            ServerError::AddressUnavailable { .. } => {
                "Use an address that `ip address` shows, or 0.0.0.0 for all of them.".to_owned()
            }
            ServerError::NoInterface { .. } => {
                "Use an interface that `ip address` shows with an address.".to_owned()
            }
            ServerError::NotAllowed { address } if address.port() < 1024 => format!(
                "Ports below 1024 need a privilege: use a higher one with --listen, or run `sudo setcap cap_net_bind_service+ep {}`.",
                std::env::current_exe().map_or("weft".to_owned(), |path| path.display().to_string())
            ),
            ServerError::NotAllowed { .. } | ServerError::Listen { .. } => {
                "Choose another address and port with --listen.".to_owned()
            }
            ServerError::CertificateUnreadable { .. } => {
                "Give PEM files that this user may read: the certificate chain, and its private key.".to_owned()
            }
            ServerError::CertificateUnusable { .. } => {
                "Check that the key belongs to the first certificate of the file, or omit both options for a self-signed one.".to_owned()
            }
            ServerError::KeyUnreadable { .. } => {
                "Name the server's key with --token-key; `weft serve --token-key FILE` creates one if the file does not exist.".to_owned()
            }
            ServerError::ListUnreadable { .. } => {
                "Restore the file; if you delete it, revoked tokens are admitted again.".to_owned()
            }
            ServerError::NotKept { .. } => {
                "Let this user write there, or set XDG_STATE_HOME to another folder.".to_owned()
            }
            ServerError::OpenToAnyOrigin => {
                "Give a token with --token or --token-key, or name each origin: --allow-origin https://HOST.".to_owned()
            }
            ServerError::TooManyThreads(_) => {
                format!("Use at most {MAX_PLANES}: one for each processor.")
            }
            ServerError::Recordings { .. } => {
                "Name an existing folder that this user may write to with --recordings.".to_owned()
            }
            ServerError::Cluster(error) => error.remedy(),
            ServerError::System { .. } => {
                "Check the limits of this user and container (`ulimit -a`).".to_owned()
            }
        }
    }

    pub(crate) fn listen(address: SocketAddr, source: io::Error) -> ServerError {
        match source.kind() {
            io::ErrorKind::AddrInUse => ServerError::PortTaken { address },
            io::ErrorKind::AddrNotAvailable => ServerError::AddressUnavailable { address },
            io::ErrorKind::PermissionDenied => ServerError::NotAllowed { address },
            _ => ServerError::Listen { address, source },
        }
    }

    pub(crate) fn not_kept(what: &'static str, path: &Path, error: &io::Error) -> ServerError {
        ServerError::NotKept {
            what,
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn unreadable(path: &Path, reason: impl ToString) -> ServerError {
        ServerError::CertificateUnreadable {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }
}
