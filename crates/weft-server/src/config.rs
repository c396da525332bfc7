use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use weft_sfu::RegistryLimits;

/// What a server needs to know.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// Where HTTP listens; port 0 takes a free one. Default
    /// `127.0.0.1:8080`.
    pub listen: SocketAddr,
    /// TLS or not. Default [`Security::Auto`].
    pub security: Security,
    /// The folder where the server keeps the certificate that it makes for
    /// itself: `certificate.pem`, and `key.pem` for this user alone. Default
    /// none: it makes another one at every start, and browsers ask each time.
    pub state: Option<PathBuf>,
    /// What rooms, WHIP and WHEP ask for as bearer token. Default none:
    /// everybody who can reach the server may join.
    pub token: Option<String>,
    /// Where media comes and goes. Default [`MediaConfig::default`].
    pub media: MediaConfig,
    /// Bounds. Default [`Limits::default`].
    pub limits: Limits,
    /// More routes, on paths that the server does not have itself. Default
    /// none.
    pub extra: Option<axum::Router>,
}

impl Default for ServerConfig {
    fn default() -> ServerConfig {
        ServerConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            security: Security::Auto,
            state: None,
            token: None,
            media: MediaConfig::default(),
            limits: Limits::default(),
            extra: None,
        }
    }
}

/// Where media comes and goes, over UDP: one port for all peers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MediaConfig {
    /// Local addresses, all of which peers are told. Default none given:
    /// loopback if HTTP listens there only, otherwise every address of the
    /// machine.
    pub addresses: Vec<IpAddr>,
    /// The port, the same on each address; 0 takes a free one. Default 0.
    pub port: u16,
}

/// How the server proves who it is. Browsers give camera and microphone only
/// to pages from loopback or over TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Security {
    /// Plain HTTP on loopback, elsewhere TLS with a certificate that the
    /// server makes for itself; browsers ask about it.
    Auto,
    /// TLS with this certificate chain and key.
    Certificate {
        /// Certificate chain, PEM.
        certificate: PathBuf,
        /// Private key, PEM.
        key: PathBuf,
    },
    /// Plain HTTP everywhere: for a proxy in front that does TLS.
    InsecureHttp,
}

/// Bounds of a server, so that strangers cannot use up the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most rooms at a time. Default 1000.
    pub rooms: usize,
    /// Most participants in one room. Default 100.
    pub participants_per_room: usize,
    /// Most media connections, to publish or to play, at a time. Default
    /// 2000; each costs about 200 kB.
    pub media_connections: usize,
    /// Most HTTP connections at a time. Default 4096; further ones wait.
    pub http_connections: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        let registry = RegistryLimits::default();
        Limits {
            rooms: registry.rooms,
            participants_per_room: registry.participants_per_room,
            media_connections: 2000,
            http_connections: 4096,
        }
    }
}
