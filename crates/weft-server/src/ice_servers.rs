//! STUN and TURN servers for clients, and their credentials: those that the
//! operator names, and the built-in one.

mod own;
#[cfg(test)]
mod tests;

pub(crate) use own::OwnTurn;
pub use own::{TurnName, TurnNameError};

use crate::secret::unguessable;
use aws_lc_rs::{digest, hmac};
use axum::http::header::{HOST, LINK};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use thiserror::Error;

/// Validity of time-limited credentials. Chosen by us: longer than any meeting; an
/// existing allocation survives their expiry.
const VALIDITY: Duration = Duration::from_secs(24 * 3600);
/// Time after which a page gets new credentials.
pub(crate) const RENEWAL: Duration = Duration::from_secs(12 * 3600);

/// STUN or TURN server for the clients of this server.
#[derive(Clone, PartialEq, Eq)]
pub struct IceServer {
    url: String,
    credentials: IceCredentials,
}

#[derive(Clone, PartialEq, Eq)]
enum IceCredentials {
    None,
    Fixed { username: String, password: String },
    Secret(String),
}

/// Reason why the description of a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum IceServerError {
    /// It is not an address of a STUN or TURN server (RFC 7064, RFC 7065).
    #[error(
        "`{0}` is not the address of a STUN or TURN server; write it like stun:stun.example:3478, \
         turn:turn.example:3478 or turns:turn.example:443?transport=tcp"
    )]
    Url(String),
    /// A TURN server without credentials.
    #[error(
        "`{0}` needs credentials: append ,secret=FILE (the server's shared secret, such as coturn's \
         static-auth-secret) or ,login=FILE (a line USER:PASSWORD)"
    )]
    NoCredentials(String),
    /// A STUN server with credentials.
    #[error("`{0}` is a STUN server, which takes no credentials: remove them")]
    Credentials(String),
    /// Another setting than the known ones, or one twice.
    #[error("`{0}` is not a setting of an ICE server; write ,secret=FILE or ,login=FILE once")]
    Setting(String),
    /// The file of the credentials cannot be used.
    #[error("cannot use {path}: {reason}")]
    File {
        /// Path of the file.
        path: String,
        /// Reason in words, with the remedy.
        reason: String,
    },
}

impl FromStr for IceServer {
    type Err = IceServerError;

    /// Reads `URL`, `URL,secret=FILE` or `URL,login=FILE`, and the file.
    fn from_str(text: &str) -> Result<IceServer, IceServerError> {
        let (url, setting) = match text.split_once(',') {
            Some((url, setting)) => (url, Some(setting)),
            None => (text, None),
        };
        let relays = relays(url).ok_or_else(|| IceServerError::Url(url.to_owned()))?;
        let credentials = match setting {
            None => IceCredentials::None,
            Some(setting) => IceCredentials::read(setting)?,
        };
        match (relays, &credentials) {
            (true, IceCredentials::None) => Err(IceServerError::NoCredentials(url.to_owned())),
            (true, _) | (false, IceCredentials::None) => Ok(IceServer {
                url: url.to_owned(),
                credentials,
            }),
            (false, _) => Err(IceServerError::Credentials(url.to_owned())),
        }
    }
}

impl IceCredentials {
    fn read(setting: &str) -> Result<IceCredentials, IceServerError> {
        let wrong = || IceServerError::Setting(setting.to_owned());
        let (key, path) = setting.split_once('=').ok_or_else(wrong)?;
        if path.is_empty() || path.contains(',') || !["secret", "login"].contains(&key) {
            return Err(wrong());
        }
        let unusable = |reason: String| IceServerError::File {
            path: path.to_owned(),
            reason,
        };
        let content = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let line = content.trim();
        if line.is_empty() || line.lines().count() > 1 {
            return Err(unusable("write one line into it".to_owned()));
        }
        match (key, line.split_once(':')) {
            ("secret", _) => Ok(IceCredentials::Secret(line.to_owned())),
            (_, Some((username, password))) if is_username(username) && !password.is_empty() => {
                Ok(IceCredentials::Fixed {
                    username: username.to_owned(),
                    password: password.to_owned(),
                })
            }
            _ => Err(unusable("write USER:PASSWORD into it".to_owned())),
        }
    }
}

/// Whether a name in STUN has at most the maximum length in bytes (RFC 8489 section 14.3).
fn is_username(name: &str) -> bool {
    (1..509).contains(&name.len())
}

/// Whether the URL names a TURN server rather than a STUN server; `None` if it names neither.
fn relays(url: &str) -> Option<bool> {
    let (scheme, rest) = url.split_once(':')?;
    let relays = match scheme {
        "turn" | "turns" => true,
        "stun" | "stuns" => false,
        _ => return None,
    };
    let host = match rest.split_once('?') {
        Some((host, "transport=udp" | "transport=tcp")) if relays => host,
        Some(_) => return None,
        None => rest,
    };
    let authority: Authority = host.parse().ok()?;
    let name = authority.host();
    let has_port = authority.as_str().len() > name.len();
    let port = authority.port_u16().filter(|port| *port > 0);
    (is_host(name) && has_port == port.is_some() && !host.contains('@')).then_some(relays)
}

/// Whether it is a name, an IPv4 address or an IPv6 address in brackets.
fn is_host(name: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    match name.strip_prefix('[').and_then(|n| n.strip_suffix(']')) {
        Some(v6) => v6.parse::<Ipv6Addr>().is_ok(),
        None => !name.is_empty() && name.chars().all(is_name),
    }
}

/// Hides the credentials.
impl fmt::Debug for IceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IceServer").field(&self.url).finish()
    }
}

/// Server with credentials for one client, in the form of `RTCIceServer` (W3C
/// WebRTC section 4.2.4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct IssuedServer {
    pub(crate) urls: String,
    #[serde(flatten)]
    pub(crate) login: Option<Login>,
}

/// Credentials of one client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Login {
    pub(crate) username: String,
    #[serde(rename = "credential")]
    pub(crate) password: String,
}

/// Servers of one operator.
#[derive(Debug, Clone, Default)]
pub(crate) struct IceServers {
    named: Vec<IceServer>,
    own: Option<OwnTurn>,
}

impl IceServers {
    pub(crate) fn new(named: Vec<IceServer>, own: Option<OwnTurn>) -> IceServers {
        IceServers { named, own }
    }

    /// Replaces the servers that the operator names.
    pub(crate) fn with_named(&self, named: Vec<IceServer>) -> IceServers {
        let own = self.own.clone();
        IceServers { named, own }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.named.is_empty() && self.own.is_none()
    }

    /// Returns the servers with credentials for this client. `host` is the name
    /// by which it reaches this server.
    pub(crate) fn issue(
        &self,
        client: &str,
        host: Option<&str>,
        now: SystemTime,
    ) -> Vec<IssuedServer> {
        let own = self.own.iter().flat_map(|own| {
            let login = Login::limited(&own.secret, client, now);
            let urls = own.urls(host).into_iter();
            urls.map(move |urls| IssuedServer {
                urls,
                login: Some(login.clone()),
            })
        });
        let named = self.named.iter().map(|server| IssuedServer {
            urls: server.url.clone(),
            login: match &server.credentials {
                IceCredentials::None => None,
                IceCredentials::Fixed { username, password } => Some(Login {
                    username: username.clone(),
                    password: password.clone(),
                }),
                IceCredentials::Secret(secret) => Some(Login::limited(secret, client, now)),
            },
        });
        named.chain(own).collect()
    }

    /// Header fields for WHIP and WHEP (RFC 9725 section 4.6).
    pub(crate) fn links(&self, client: &str, host: Option<&str>, now: SystemTime) -> HeaderMap {
        let servers = self.issue(client, host, now);
        let links = servers.iter().filter_map(IssuedServer::link);
        links.map(|link| (LINK, link)).collect()
    }
}

impl Login {
    /// Time-limited credentials
    /// ([draft-uberti-behave-turn-rest-00](https://datatracker.ietf.org/doc/html/draft-uberti-behave-turn-rest-00)
    /// section 2.2), as coturn and the built-in server check them.
    pub(crate) fn limited(secret: &str, client: &str, now: SystemTime) -> Login {
        let end = now.duration_since(UNIX_EPOCH).unwrap_or_default() + VALIDITY;
        let username = format!("{}:{client}", end.as_secs());
        let password = password_of(secret, &username);
        Login { username, password }
    }
}

/// Password of a time-limited name.
pub(crate) fn password_of(secret: &str, username: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret.as_bytes());
    STANDARD.encode(hmac::sign(&key, username.as_bytes()))
}

impl IssuedServer {
    fn link(&self) -> Option<HeaderValue> {
        let mut link = format!("<{}>; rel=\"ice-server\"", self.urls);
        if let Some(Login { username, password }) = &self.login {
            for (name, value) in [("username", username), ("credential", password)] {
                link += &format!("; {name}=\"{}\"", quoted(value));
            }
            link += "; credential-type=\"password\"";
        }
        HeaderValue::from_str(&link).ok()
    }
}

/// Content of a quoted string (RFC 9110 section 5.6.4).
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Host of a request (RFC 9110 section 7.2).
pub(crate) fn host_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(HOST)?.to_str().ok()
}

/// Name of a client in credentials, derived from its identity here: short, ASCII only,
/// and without the names of room and participant, because the TURN server may belong to
/// somebody else.
pub(crate) fn client_of(identity: &str) -> String {
    let hash = digest::digest(&digest::SHA256, identity.as_bytes());
    let hex = hash.as_ref().iter().take(8).map(|b| format!("{b:02x}"));
    hex.collect()
}

/// Name of a client that is not a participant yet.
pub(crate) fn newcomer() -> String {
    unguessable().chars().take(16).collect()
}
