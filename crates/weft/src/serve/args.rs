//! Arguments of `weft serve`.

use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroUsize;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use weft_server::{
    AllowedOrigin, ClusterAddress, ClusterConfig, IceServer, Limits, MAX_THREADS, MediaConfig,
    MediaLimits, NodeName, OriginError, PublicUrl, TurnName, WebhookUrl,
};

use weft_units::Rate;

use crate::compose::Arrangement;
use crate::exit::Failure;
use crate::token::TokenKeyArgs;
use crate::values::{self, limit, listen, metrics, number, public_address, rate, token};

const OPERATION: &str = "Operation";

// More than fifteen fields: one for each option or group of options.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Read options from this TOML file. Its keys are the names of the options, as in
    /// `max-rooms = 50`. The command line and the environment override the file. SIGHUP
    /// reads it again
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print the effective configuration without secrets, as TOML, and exit
    #[arg(long)]
    pub check: bool,
    #[command(flatten, next_help_heading = "Address and access")]
    pub page: PageArgs,
    /// File with the bearer token of --token, one line; SIGHUP reads it again
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    pub token_file: Option<PathBuf>,
    #[command(flatten)]
    pub key: TokenKeyArgs,
    /// Allow pages of this origin to use WHIP, WHEP and the rooms' interface
    /// from their visitors' browsers, with a bearer token and without cookies,
    /// such as `https://dashboard.example`; repeat for each, or use * for every
    /// origin, which requires a token (default: none)
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<AllowedOrigin>,
    #[command(flatten, next_help_heading = "Media")]
    pub media: MediaArgs,
    /// STUN or TURN server for browsers behind a firewall, and for programs that
    /// use WHIP or WHEP: a URL such as `stun:stun.example:3478`, or with
    /// credentials `turns:turn.example:443?transport=tcp,secret=FILE` (the
    /// secret that it shares with the server, such as coturn's
    /// static-auth-secret) or `turn:turn.example:3478,login=FILE` (a line
    /// USER:PASSWORD); repeat for each (default: none)
    #[arg(long, value_name = "URL[,secret=FILE|,login=FILE]")]
    pub ice_server: Vec<IceServer>,
    /// Run a TURN server on the HTTP port, for browsers behind a firewall that blocks
    /// UDP. It relays to the media port only. HOST:PORT is the address at which they
    /// reach the HTTP port without a proxy (default: the one in their URL of the page)
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, require_equals = true)]
    pub turn: Option<Option<TurnName>>,
    /// Media threads, which share the calls; all use the same UDP port (default: one
    /// for each processor)
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// Let moderators record rooms into this folder, which must exist: a file per
    /// camera, microphone and screen, for this user only. Without a token,
    /// everybody in a room is a moderator (default: rooms cannot be recorded)
    #[arg(long, value_name = "FOLDER")]
    pub recordings: Option<PathBuf>,
    /// Compose one film of each recording when it ends, as `weft compose` does: one at a
    /// time, at low priority
    #[arg(long, value_enum, value_name = "LAYOUT", requires = "recordings")]
    pub compose: Option<Arrangement>,
    /// Write the RTP and RTCP packets of all connections into this file as pcapng for
    /// Wireshark, with an interface for each connection: ROOM/PARTICIPANT publish, play or
    /// receive. The file is not encrypted: it contains the pictures, the sound and the
    /// addresses of everybody, but no keys. Only you can read it. A folder gets a new file
    /// at each start
    #[arg(long, value_name = "FILE|DIR")]
    pub pcap: Option<PathBuf>,
    /// Write the events of all connections into this file as qlog: states of their paths,
    /// values of the controllers, the path of each packet; it contains addresses and the
    /// names of rooms, but neither pictures nor sound. It ends after 1 GiB. A folder gets a new file at each
    /// start
    #[arg(long, value_name = "FILE|DIR")]
    pub qlog: Option<PathBuf>,
    #[command(flatten, next_help_heading = "Cluster")]
    pub cluster: ClusterArgs,
    #[command(flatten, next_help_heading = "Limits")]
    pub limits: LimitArgs,
    #[command(flatten, next_help_heading = OPERATION)]
    pub operator: OperatorArgs,
    #[command(flatten, next_help_heading = OPERATION)]
    pub log: LogArgs,
    /// On a signal to stop: admit no newcomers, notify the participants, and
    /// wait up to this many seconds until they have left; a second signal ends
    /// at once
    #[arg(long, value_name = "S", default_value = "0", value_parser = patience)]
    pub drain: Duration,
}

/// Address and access of a server.
#[derive(Debug, Clone, Args)]
pub struct PageArgs {
    /// Address to listen on; loopback uses http unless it has a certificate,
    /// other addresses https
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen)]
    pub listen: SocketAddr,
    /// Certificate chain (PEM); without it the server makes a self-signed one
    /// and stores it in $XDG_STATE_HOME/weft (~/.local/state/weft)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Use plain http everywhere, for a TLS proxy in front
    #[arg(long, conflicts_with_all = ["certificate", "key"])]
    pub insecure_http: bool,
    /// Bearer token that clients must send (or `?token=` in the page's URL); `call`
    /// generates one unless it listens on loopback
    #[arg(long, value_name = "TOKEN", env = "WEFT_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<String>,
}

/// Media addresses.
#[derive(Debug, Args)]
pub struct MediaArgs {
    /// UDP port of all media, to open in firewalls and forward in routers, or a range, of
    /// which the first free port is used (default: any free port)
    #[arg(long, value_name = "PORT[-PORT]", value_parser = ports)]
    pub media_port: Option<RangeInclusive<u16>>,
    /// Interface or address of this machine to offer to callers; repeat for
    /// each (default: its own, without containers and tunnels, at most eight
    /// addresses)
    #[arg(long, value_name = "IF|ADDR")]
    pub media_interface: Vec<String>,
    /// Public address that a router translates to this machine's, port by port
    /// (1:1 NAT): offered in place of the machine's own; one for IPv4 and one
    /// for IPv6
    #[arg(long, value_name = "ADDR", value_parser = public_address)]
    pub public_address: Vec<IpAddr>,
}

impl MediaArgs {
    pub fn config(&self) -> MediaConfig {
        let mut config = MediaConfig {
            public: self.public_address.clone(),
            ..MediaConfig::default()
        };
        if let Some(ports) = &self.media_port {
            config.ports = ports.clone();
        }
        for name in &self.media_interface {
            match name.parse() {
                Ok(address) => config.addresses.push(address),
                Err(_) => config.interfaces.push(name.clone()),
            }
        }
        config
    }
}

/// Cluster of servers.
#[derive(Debug, Clone, Args)]
pub struct ClusterArgs {
    /// Share rooms with other servers, which find each other through this NATS server:
    /// nats://USER:PASSWORD@HOST:PORT/NAME, only HOST is required, or tls:// with TLS;
    /// NAME is the name of the cluster (default: weft). Media goes directly from server
    /// to server (default: none; the server runs alone)
    #[arg(long, value_name = "URL", env = "WEFT_CLUSTER", hide_env_values = true)]
    pub cluster: Option<ClusterAddress>,
    /// Login for NATS, in a file: a line USER:PASSWORD, or a token
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub cluster_login: Option<PathBuf>,
    /// Name of this server, unique in the cluster (default: the host name)
    #[arg(long, value_name = "NAME", requires = "cluster")]
    pub node: Option<NodeName>,
    /// Address of this server alone, such as https://HOST:PORT: servers that have no
    /// capacity for newcomers redirect them here (default: none; newcomers are never
    /// redirected here)
    #[arg(long, value_name = "URL", requires = "cluster")]
    pub public_url: Option<PublicUrl>,
    /// Region of this server; newcomers are redirected within a region if it has capacity
    /// (default: none)
    #[arg(long, value_name = "NAME", requires = "cluster")]
    pub region: Option<NodeName>,
    /// Origin of servers of the cluster, also of later ones: pages can move to them after the
    /// server that they were loaded from is gone; https://*.weft.example covers all names
    /// below weft.example; repeat it for more (default: those of the servers that this one
    /// has met)
    #[arg(long, value_name = "ORIGIN", requires = "cluster", value_parser = cluster_origin)]
    pub cluster_origin: Vec<AllowedOrigin>,
}

impl ClusterArgs {
    pub fn config(&self) -> Result<Option<ClusterConfig>, Failure> {
        let Some(address) = self.cluster.clone() else {
            return Ok(None);
        };
        let address = match &self.cluster_login {
            None => address,
            Some(file) => values::secret_file("--cluster-login", file, |line| {
                address.with_login(line).map_err(|e| e.to_string())
            })?,
        };
        let node = match self.node.clone() {
            Some(node) => node,
            None => host_name().ok_or_else(|| {
                Failure::usage("this machine has no host name: name this server with --node NAME")
            })?,
        };
        Ok(Some(ClusterConfig {
            address,
            node,
            public_url: self.public_url.clone(),
            region: self.region.clone(),
            origins: self.cluster_origin.clone(),
        }))
    }
}

fn cluster_origin(text: &str) -> Result<AllowedOrigin, String> {
    match text {
        "*" => Err(
            "pages may not send to every server: name yours, such as https://*.weft.example"
                .to_owned(),
        ),
        text => text.parse().map_err(|error: OriginError| error.to_string()),
    }
}

fn host_name() -> Option<NodeName> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    name.trim().parse().ok()
}

/// Limits that protect the machine from strangers.
#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Maximum number of rooms
    #[arg(long, value_name = "N", default_value_t = Limits::default().rooms, value_parser = limit)]
    pub max_rooms: usize,
    /// Maximum number of participants in a room, including those who only play
    /// and other programs that use WHEP. The last tenth is not available to
    /// participants with a signed token
    #[arg(long, value_name = "N", default_value_t = Limits::default().participants_per_room, value_parser = limit)]
    pub max_participants: usize,
    /// Maximum number of participants with the same signed token, or with its
    /// bearers' tokens for guests (default: half of a room)
    #[arg(long, value_name = "N", value_parser = limit)]
    pub max_participants_per_token: Option<usize>,
    /// Maximum number of media connections, for publishing and playing; in a
    /// room of n participants who all publish, each has n
    #[arg(long, value_name = "N", default_value_t = MediaLimits::default().all, value_parser = limit)]
    pub max_connections: usize,
    /// Maximum number of media connections in one room
    #[arg(long, value_name = "N", default_value_t = MediaLimits::default().per_room, value_parser = limit)]
    pub max_connections_per_room: usize,
    /// Maximum number of media connections from one address, or from one IPv6
    /// network of 64 bits
    #[arg(long, value_name = "N", default_value_t = MediaLimits::default().per_address, value_parser = limit)]
    pub max_connections_per_address: usize,
    /// Maximum rate accepted from one publisher, including repair and copies
    /// over several links, such as 8mbit; the excess is lost, as on a link of
    /// that rate
    #[arg(long, value_name = "RATE", default_value = "100mbit", value_parser = rate)]
    pub max_publisher_rate: Rate,
    /// Maximum rate sent to all players together, such as 800mbit: they share
    /// it, and beyond 85 % of it the server refuses new publications and
    /// playbacks (default: none; it always refuses them when every media thread
    /// is 90 % busy)
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub max_egress: Option<Rate>,
}

impl LimitArgs {
    pub fn limits(&self) -> Limits {
        Limits {
            rooms: self.max_rooms,
            participants_per_room: self.max_participants,
            participants_per_token: self.max_participants_per_token,
            media: MediaLimits {
                all: self.max_connections,
                per_room: self.max_connections_per_room,
                per_address: self.max_connections_per_address,
                publisher: self.max_publisher_rate,
                egress: self.max_egress,
                ..MediaLimits::default()
            },
            ..Limits::default()
        }
    }
}

/// Interfaces for the operator.
#[derive(Debug, Args)]
pub struct OperatorArgs {
    /// Additional address for /metrics and /healthz, without the token, over
    /// plain http: for private monitoring (default: none; /metrics requires the
    /// token, if there is one)
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = metrics)]
    pub metrics: Option<SocketAddr>,
    /// Number of rooms with their own metrics, labelled with the rooms' names: those with
    /// the most participants; the other rooms share theirs
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = number::<usize>)]
    pub metrics_rooms: usize,
    /// File with the bearer token of the admin interface, /api/admin: one line
    /// of at least 16 characters; SIGHUP reads it again (default: no such
    /// interface)
    #[arg(long, value_name = "FILE")]
    pub admin_token_file: Option<PathBuf>,
    /// URL that gets an HTTP request for each event: participants who join, leave,
    /// publish or stop; rooms that open or close; recordings and films that are complete
    #[arg(long, value_name = "URL", requires = "webhook_secret_file")]
    pub webhook: Option<WebhookUrl>,
    /// File with the secret that signs these requests (Standard Webhooks): `echo
    /// whsec_$(openssl rand -base64 32)` generates one
    #[arg(long, value_name = "FILE", requires = "webhook")]
    pub webhook_secret_file: Option<PathBuf>,
}

/// Log on standard error.
#[derive(Debug, Clone, Args)]
pub struct LogArgs {
    /// Verbosity of the log on standard error: faults that stop the server from
    /// working (error), also arrivals, departures and refusals (info), also
    /// every media connection (debug), or nothing (off)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = LogLevel::Error)]
    pub log: LogLevel,
    /// Form of the log: lines for people, or one JSON object per line with the
    /// time in seconds since 1970
    #[arg(long, value_name = "FORM", value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    Off,
    Error,
    Info,
    Debug,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Text,
    Json,
}

fn ports(text: &str) -> Result<RangeInclusive<u16>, String> {
    let remedy = "write a port from 1 to 65535, or two as in 8443-8453";
    let port = |text: &str| text.parse().ok().filter(|port| *port > 0);
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (port(first), port(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err(remedy.to_owned()),
    }
}

fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads = text.parse::<NonZeroUsize>().ok();
    let fit = threads.filter(|threads| threads.get() <= MAX_THREADS);
    fit.ok_or_else(|| format!("write a number from 1 to {MAX_THREADS}"))
}

fn patience(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .map_err(|_| "write whole seconds, such as 60")?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_has_at_least_one_thread_and_not_too_many() {
        assert_eq!(threads("2").map(NonZeroUsize::get), Ok(2));
        let most = MAX_THREADS.to_string();
        assert_eq!(threads(&most).map(NonZeroUsize::get), Ok(MAX_THREADS));
        for wrong in ["0", "65", "-1", "two", ""] {
            let error = threads(wrong).expect_err("it is refused");
            assert_eq!(error, "write a number from 1 to 64");
        }
    }
}
