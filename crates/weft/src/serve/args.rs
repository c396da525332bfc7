//! What `weft serve` is told.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use weft_server::{AllowedOrigin, Limits, MediaConfig, MediaLimits};

use weft_units::Rate;

use crate::token::TokenKeyArgs;
use crate::values::{listen, metrics, public_address, rate, token};

#[derive(Debug, Args)]
pub struct ServeArgs {
    #[command(flatten)]
    pub page: PageArgs,
    #[command(flatten)]
    pub key: TokenKeyArgs,
    #[command(flatten)]
    pub media: MediaArgs,
    /// An origin whose pages may use WHIP, WHEP and the rooms' interface from their visitors'
    /// browsers, with a bearer token and without cookies, such as `https://dashboard.example`; repeat
    /// for each, or * for every origin, which needs a token (default: none)
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<AllowedOrigin>,
    /// Another address for /metrics and /healthz, without the token, over plain http: for a
    /// monitor, not for everybody (default: none; /metrics asks for the token, if there is one)
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = metrics)]
    pub metrics: Option<SocketAddr>,
    #[command(flatten)]
    pub limits: LimitArgs,
    #[command(flatten)]
    pub log: LogArgs,
    /// When asked to end: let nobody new in, tell those in the rooms, and wait so many seconds at
    /// most until they have left; a second signal ends at once
    #[arg(long, value_name = "S", default_value = "0", value_parser = patience)]
    pub drain: Duration,
}

/// Where a server listens, and to whom.
#[derive(Debug, Args)]
pub struct PageArgs {
    /// Where to listen; loopback speaks http unless it has a certificate, other addresses https
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen)]
    pub listen: SocketAddr,
    /// Certificate chain (PEM); without it the server makes one for itself and keeps it in
    /// $XDG_STATE_HOME/weft (~/.local/state/weft)
    #[arg(long, value_name = "FILE", requires = "key")]
    pub certificate: Option<PathBuf>,
    /// Private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub key: Option<PathBuf>,
    /// Plain http everywhere, for a proxy in front that does TLS
    #[arg(long, conflicts_with = "certificate")]
    pub insecure_http: bool,
    /// What clients must show as bearer token (or `?token=` in the page's address); `call` makes
    /// one for itself beyond loopback
    #[arg(long, value_name = "TOKEN", env = "WEFT_TOKEN", hide_env_values = true, value_parser = token)]
    pub token: Option<String>,
}

/// Where media comes and goes.
#[derive(Debug, Args)]
pub struct MediaArgs {
    /// The UDP port of all media, to be opened in firewalls and forwarded by routers, or the first
    /// and last of some of which a free one is taken (default: any free one)
    #[arg(long, value_name = "PORT[-PORT]", value_parser = ports)]
    pub media_port: Option<RangeInclusive<u16>>,
    /// An interface or address of this machine that callers are told of; repeat for each (default:
    /// those of its own, without containers and tunnels, eight addresses at most)
    #[arg(long, value_name = "IF|ADDR")]
    pub media_interface: Vec<String>,
    /// The address at which a router lets callers in and translates it to this machine's, port by
    /// port (1:1 NAT): told in place of the own ones; one for IPv4 and one for IPv6
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

/// Bounds, so that strangers cannot use up the machine.
#[derive(Debug, Args)]
pub struct LimitArgs {
    /// Most rooms at a time
    #[arg(long, value_name = "N", default_value_t = Limits::default().rooms)]
    pub max_rooms: usize,
    /// Most participants in a room, with everybody whom the room shows: those who only play, too,
    /// also other programs by WHEP. Those with a signed token do not get the last tenth
    #[arg(long, value_name = "N", default_value_t = Limits::default().participants_per_room)]
    pub max_participants: usize,
    /// Most participants who came with the same signed token or with one that its bearers made for
    /// their guests (default: half of a room)
    #[arg(long, value_name = "N")]
    pub max_participants_per_token: Option<usize>,
    /// Most media connections, to publish or to play, at a time; in a room of n who all publish,
    /// each has n
    #[arg(long, value_name = "N", default_value_t = MediaLimits::default().all)]
    pub max_connections: usize,
    /// Most of them in one room
    #[arg(long, value_name = "N", default_value_t = MediaLimits::default().per_room)]
    pub max_connections_per_room: usize,
    /// Most of them from one address, or from one IPv6 network of 64 bits
    #[arg(long, value_name = "N", default_value_t = MediaLimits::default().per_address)]
    pub max_connections_per_address: usize,
    /// Most that is taken of one publisher, repair and copies over several links included, such as
    /// 8mbit; what is more is lost, as on a link of that rate
    #[arg(long, value_name = "RATE", default_value = "100mbit", value_parser = rate)]
    pub max_publisher_rate: Rate,
    /// Most that is sent to all together, such as 800mbit: they share it, and beyond 85 % of it
    /// nobody else may publish or play (default: none; in any case nobody may when the media side is nine tenths busy)
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

/// What is written to standard error of what happens.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// What to write down on standard error: what keeps the server from its work, or also who
    /// comes, goes and is refused, or also each media connection
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = LogLevel::Error)]
    pub log: LogLevel,
    /// How: lines for people, or a JSON object a line with the time in seconds since 1970
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

fn patience(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .map_err(|_| "write whole seconds, such as 60")?;
    Ok(Duration::from_secs(seconds))
}
