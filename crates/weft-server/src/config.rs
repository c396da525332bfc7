use crate::allowed_origin::AllowedOrigin;
use crate::auth::TokenKey;
use crate::log::Log;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use weft_rooms::RegistryLimits;
use weft_units::Rate;

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
    /// What tokens for one room and a time are signed with; those count beside
    /// [`ServerConfig::token`]. Default none.
    pub token_key: Option<TokenKey>,
    /// Origins whose pages may use WHIP, WHEP and the rooms' interface with a
    /// bearer token. `*` needs a token, since without one any page could do what
    /// its visitors' place in the network lets them do. Default none.
    pub allowed_origins: Vec<AllowedOrigin>,
    /// Another address for `/metrics` and `/healthz`, without a token, over plain
    /// HTTP: for a monitor in a network of the operator's. Default none.
    pub metrics: Option<SocketAddr>,
    /// Where media comes and goes. Default [`MediaConfig::default`].
    pub media: MediaConfig,
    /// Folder in which the server opens a socket for its operator (`weft rooms`).
    /// Default none.
    pub admin: Option<PathBuf>,
    /// Bounds. Default [`Limits::default`].
    pub limits: Limits,
    /// Who is told what happens. Default nobody.
    pub log: Log,
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
            token_key: None,
            allowed_origins: Vec::new(),
            metrics: None,
            media: MediaConfig::default(),
            admin: None,
            limits: Limits::default(),
            log: Log::default(),
            extra: None,
        }
    }
}

/// Where media comes and goes, over UDP: one port for all peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaConfig {
    /// Local addresses, all of which peers are told. Default none given; if no
    /// interface is, either: loopback if HTTP listens there only, otherwise
    /// the addresses of the machine's own interfaces, eight at most.
    pub addresses: Vec<IpAddr>,
    /// Network interfaces, all addresses of which peers are told: those of
    /// containers and tunnels are only if they are named. Default none given.
    pub interfaces: Vec<String>,
    /// The first of these ports that is free, the same on each address; 0 takes
    /// any free one. Default 0 alone.
    pub ports: RangeInclusive<u16>,
    /// What peers are told in place of the local addresses of the same family:
    /// where a router translates each of them to one of ours, port by port
    /// (1:1 NAT). Default none.
    pub public: Vec<IpAddr>,
}

impl Default for MediaConfig {
    fn default() -> MediaConfig {
        MediaConfig {
            addresses: Vec::new(),
            interfaces: Vec::new(),
            ports: 0..=0,
            public: Vec::new(),
        }
    }
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
    /// Most participants in one room. Default 100. Bearers of signed tokens
    /// do not get the last tenth, so that an operator can always come in.
    pub participants_per_room: usize,
    /// Most participants who came with the same signed token, or with one that
    /// its bearers made for their guests. Default half of a room, so that one
    /// token does not keep the others out.
    pub participants_per_token: Option<usize>,
    /// Most media connections, to publish or to play, at a time.
    pub media: MediaLimits,
    /// Most participants from one address, or from one IPv6 network of 64
    /// bits (twice as many from one of 56, four times from one of 48), in all
    /// rooms. Default 300. Loopback is not counted.
    pub participants_per_address: usize,
    /// Most HTTP connections at a time. Default 4096; further ones wait.
    pub http_connections: usize,
    /// Most of them from one address, or from one IPv6 network, as with
    /// participants. Default 256; further ones are closed. Loopback is not
    /// counted: a proxy on this machine may speak for everybody.
    pub http_connections_per_address: usize,
}

/// Bounds of media connections, so that nobody has all of them. In a room of
/// n who all publish, each has n connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaLimits {
    /// Most at a time. Default 2000; each costs about 200 kB. Newcomers do
    /// not get the last tenth, bearers of signed tokens not two tenths more; the
    /// same in a room.
    pub all: usize,
    /// Most in one room. Default 1000.
    pub per_room: usize,
    /// Most from one address, or from one IPv6 network, as with participants:
    /// an office of ten in a room of fifty. Default 500. Loopback is not
    /// counted, but the address is that a proxy there names.
    pub per_address: usize,
    /// Most of these that are not up yet: they are given up after 8 s when
    /// nothing comes. Default 256.
    pub coming_per_address: usize,
    /// Most of those who show the same signed token, or one that its bearers
    /// made for their guests. Default 500.
    pub per_token: usize,
    /// Most that is taken of one publisher, repair and copies over several links
    /// included; the rest is dropped. Default 100 Mbit/s.
    pub publisher: Rate,
    /// Most that is sent to all players together before nobody else may publish
    /// or play. Default none.
    pub egress: Option<Rate>,
    /// Most of one participant. Default 200: a full room, each asked for twice.
    pub per_participant: usize,
}

impl Limits {
    /// Bounds of the rooms.
    pub(crate) fn registry(&self) -> RegistryLimits {
        let most = self.participants_per_room;
        RegistryLimits {
            rooms: self.rooms,
            participants_per_room: most,
            // Chosen by us. A room for one has no place to keep.
            kept_for_hosts: most.div_ceil(10).min(most.saturating_sub(1)),
        }
    }

    pub(crate) fn of_a_token(&self) -> usize {
        let half = self.participants_per_room.div_ceil(2);
        self.participants_per_token.unwrap_or(half)
    }
}

impl Default for MediaLimits {
    fn default() -> MediaLimits {
        MediaLimits {
            all: 2000,
            per_room: 1000,
            per_address: 500,
            coming_per_address: 256,
            per_token: 500,
            publisher: Rate::from_mbps(100),
            egress: None,
            per_participant: 200,
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        let registry = RegistryLimits::default();
        Limits {
            rooms: registry.rooms,
            participants_per_room: registry.participants_per_room,
            participants_per_token: None,
            media: MediaLimits::default(),
            participants_per_address: 300,
            http_connections: 4096,
            http_connections_per_address: 256,
        }
    }
}
