use crate::allowed_origin::AllowedOrigin;
use crate::auth::TokenKey;
use crate::cluster_address::ClusterConfig;
use crate::ice_servers::{IceServer, TurnName};
use crate::log::Log;
use crate::webhook::WebhookTarget;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use weft_rooms::RegistryLimits;
use weft_trace::live::Tracer;
use weft_units::Rate;

/// Maximum number of media threads of a server.
pub const MAX_THREADS: usize = weft_forwarding::MAX_PLANES;

/// Configuration of a server. More than fifteen fields: one for each part that can be
/// configured.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// HTTP address; port 0 takes a free one. Default `127.0.0.1:8080`.
    pub listen: SocketAddr,
    /// TLS mode. Default [`Security::Auto`].
    pub security: Security,
    /// State folder for the self-signed certificate: `certificate.pem`, and
    /// `key.pem` with access for this user alone. Default none: the server
    /// makes a new certificate at every start, and browsers warn each time.
    pub state: Option<PathBuf>,
    /// Bearer token for rooms, WHIP and WHEP. Default none: everybody who can
    /// reach the server may join.
    pub token: Option<String>,
    /// Signing key of tokens for one room and a limited time, which are valid
    /// in addition to [`ServerConfig::token`]. Default none.
    pub token_key: Option<TokenKey>,
    /// Origins whose pages may use WHIP, WHEP and the rooms' interface with a
    /// bearer token. `*` requires a token, because without one any page could
    /// use its visitors' network access. Default none.
    pub allowed_origins: Vec<AllowedOrigin>,
    /// Media addresses. Default [`MediaConfig::default`].
    pub media: MediaConfig,
    /// Number of media threads, at most [`MAX_THREADS`]. Default 1.
    pub threads: NonZeroUsize,
    /// STUN and TURN servers for the participants' browsers and for programs that
    /// use WHIP and WHEP. Default none.
    pub ice_servers: Vec<IceServer>,
    /// Built-in TURN server. Default none.
    pub turn: Option<TurnConfig>,
    /// Interfaces for the operator. Default none.
    pub operator: OperatorConfig,
    /// Cluster of servers that share their rooms. Default none: a single server.
    pub cluster: Option<ClusterConfig>,
    /// Limits. Default [`Limits::default`].
    pub limits: Limits,
    /// Receiver of server events. Default none.
    pub log: Log,
    /// Receiver of every packet of RTP and RTCP without protection, which contain what the
    /// participants say and show, and of events of the connections. Default none.
    pub tracer: Option<Tracer>,
    /// Additional routes, on paths that the server does not use itself. Default
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
            media: MediaConfig::default(),
            threads: NonZeroUsize::MIN,
            ice_servers: Vec::new(),
            turn: None,
            operator: OperatorConfig::default(),
            cluster: None,
            limits: Limits::default(),
            log: Log::default(),
            tracer: None,
            extra: None,
        }
    }
}

/// Interfaces for the operator of a server.
#[derive(Debug, Clone, Default)]
pub struct OperatorConfig {
    /// Additional address for `/metrics` and `/healthz`, without a token, over
    /// plain HTTP: for monitoring in a private network. Default none.
    pub metrics: Option<SocketAddr>,
    /// Folder in which the server opens a socket (`weft rooms`). Default none.
    pub socket_folder: Option<PathBuf>,
    /// Bearer token of `/api/admin`. Default none: the interface does not exist.
    pub admin_token: Option<String>,
    /// Maximum number of rooms with their own metrics, which contain their names; the
    /// other rooms share theirs. Default 0: no room has its own.
    pub metrics_rooms: usize,
    /// Target for the events of rooms. Default none.
    pub webhook: Option<WebhookTarget>,
}

/// Settings that can change while the server runs
/// ([`ServerHandle::reconfigure`](crate::ServerHandle::reconfigure)). All apply to later
/// requests; present participants stay.
#[derive(Debug, Clone)]
pub struct Reconfiguration {
    /// Like [`OperatorConfig::admin_token`].
    pub admin_token: Option<String>,
    /// New bearer token. Ignored by a server that was started without one, and `None`
    /// keeps the old one: other parts depend on whether there is one.
    pub token: Option<String>,
    /// Like [`ServerConfig::allowed_origins`].
    pub allowed_origins: Vec<AllowedOrigin>,
    /// Like [`ServerConfig::ice_servers`].
    pub ice_servers: Vec<IceServer>,
    /// Like [`ServerConfig::limits`], except those of rates and of HTTP connections,
    /// which do not change. The built-in TURN server keeps its own.
    pub limits: Limits,
}

/// TURN server on the HTTP port, for clients that cannot reach a UDP port of this server.
/// It relays only to the media addresses. [`MediaLimits::all`] and
/// [`MediaLimits::per_address`] also limit its allocations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnConfig {
    /// Host and port by which clients reach the HTTP port without a proxy. Default none:
    /// those of each client's request.
    pub name: Option<TurnName>,
}

/// Addresses of media, over UDP: one port for all peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaConfig {
    /// Local addresses, all of which are offered to peers. Default none. If
    /// neither addresses nor interfaces are given: loopback if HTTP listens
    /// only there, otherwise at most eight addresses of the machine's own
    /// interfaces.
    pub addresses: Vec<IpAddr>,
    /// Network interfaces, all of whose addresses are offered to peers.
    /// Interfaces of containers and tunnels are used only if you name them.
    /// Default none.
    pub interfaces: Vec<String>,
    /// Port range: the server uses the first port that is free on every address; 0 means
    /// any free one. Default only 0.
    pub ports: RangeInclusive<u16>,
    /// Addresses offered to peers instead of the local addresses of the same family: for a router
    /// that translates each of them to one of ours, port by port (1:1 NAT). Default none.
    pub public: Vec<IpAddr>,
    /// Folder of recordings, which must exist. Default none: rooms cannot be recorded.
    pub recordings: Option<PathBuf>,
    /// Program, with its first arguments, that composes the film of a complete recording;
    /// the recording's folder is the last argument. Recordings are composed one after the
    /// other. Default none.
    pub compose: Option<Vec<OsString>>,
}

impl Default for MediaConfig {
    fn default() -> MediaConfig {
        MediaConfig {
            addresses: Vec::new(),
            interfaces: Vec::new(),
            ports: 0..=0,
            public: Vec::new(),
            recordings: None,
            compose: None,
        }
    }
}

/// TLS mode and certificate of the server. Browsers allow camera and microphone
/// only for pages from loopback or over TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Security {
    /// Plain HTTP on loopback, elsewhere TLS with a self-signed certificate,
    /// about which browsers warn.
    Auto,
    /// TLS with this certificate chain and key.
    Certificate {
        /// Certificate chain, PEM.
        certificate: PathBuf,
        /// Private key, PEM.
        key: PathBuf,
    },
    /// Plain HTTP everywhere: for a TLS proxy in front.
    InsecureHttp,
}

/// Limits of a server, which protect the machine from strangers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of rooms. Default 1000.
    pub rooms: usize,
    /// Maximum number of participants in one room. Default 100. The last tenth
    /// is not available to bearers of signed tokens, so that an operator can
    /// always enter.
    pub participants_per_room: usize,
    /// Maximum number of participants with the same signed token, or with its
    /// descendants for guests. Default half of a room, so that one token cannot
    /// keep the others out.
    pub participants_per_token: Option<usize>,
    /// Limits of media connections, for publishing and playing.
    pub media: MediaLimits,
    /// Maximum number of participants from one address, or from one IPv6
    /// network of 64 bits (twice as many from one of 56, four times from one of
    /// 48), in all rooms. Default 300. Loopback is not counted.
    pub participants_per_address: usize,
    /// Maximum number of HTTP connections. Default 4096; further ones wait.
    pub http_connections: usize,
    /// Maximum number of HTTP connections from one address, or from one IPv6
    /// network, as for participants. Default 256; further ones are closed.
    /// Loopback is not counted, because a proxy on this machine may serve many
    /// clients.
    pub http_connections_per_address: usize,
}

/// Limits of media connections, so that no client can take all of them. In a
/// room of n participants who all publish, each has n connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MediaLimits {
    /// Maximum number in total. Default 2000; each costs about 200 kB. The last
    /// tenth is not available to newcomers, and two further tenths not to
    /// bearers of signed tokens; the same applies per room.
    pub all: usize,
    /// Maximum number in one room. Default 1000.
    pub per_room: usize,
    /// Maximum number from one address, or from one IPv6 network, as for
    /// participants: an office of ten in a room of fifty. Default 500. Loopback
    /// is not counted, but the address that a proxy there reports is.
    pub per_address: usize,
    /// Maximum number of these that are not established yet; they time out
    /// after 8 s without packets. Default 256.
    pub coming_per_address: usize,
    /// Maximum number with the same signed token, or with its descendants for
    /// guests. Default 500.
    pub per_token: usize,
    /// Maximum rate accepted from one publisher, including repair and copies
    /// over several links; the excess is dropped. Default 100 Mbit/s.
    pub publisher: Rate,
    /// Rate sent to all players together at which new publications and
    /// playbacks are refused. Default none.
    pub egress: Option<Rate>,
    /// Maximum number of one participant. Default 200: a full room, each
    /// requested twice.
    pub per_participant: usize,
}

impl Limits {
    /// Limits of the room registry.
    pub(crate) fn registry(&self) -> RegistryLimits {
        let most = self.participants_per_room;
        RegistryLimits {
            rooms: self.rooms,
            participants_per_room: most,
            // Chosen by us. A room for one person has no place to reserve.
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
