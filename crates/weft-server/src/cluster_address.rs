//! Address of a cluster of servers, as its operator writes it.

use crate::allowed_origin::AllowedOrigin;
use axum::http::Uri;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Port of NATS.
const PORT: u16 = 4222;
/// Maximum length of a cluster's or server's name, in characters: that of one label of a
/// host name (RFC 1035 section 2.3.4).
const LONGEST: usize = 63;
/// Name of a cluster without one.
const UNNAMED: &str = "weft";

/// Membership of a server in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterConfig {
    /// NATS server, and the name of the cluster there.
    pub address: ClusterAddress,
    /// Name of this server, unique in the cluster.
    pub node: NodeName,
    /// URL by which clients reach this server alone. Default none: other servers redirect
    /// no clients here.
    pub public_url: Option<PublicUrl>,
    /// Region of this server: newcomers stay in their region if it has capacity. Default none.
    pub region: Option<NodeName>,
    /// Origins of all servers of the cluster, also of those that join later. Default: those
    /// that this server has met.
    pub origins: Vec<AllowedOrigin>,
}

/// NATS server and cluster: `nats://[USER:PASSWORD@]HOST[:PORT][/NAME]`.
#[derive(Clone, PartialEq, Eq)]
pub struct ClusterAddress {
    /// Scheme, host and port.
    pub(crate) nats: String,
    /// Name of the cluster. Servers of several clusters can share a NATS server.
    pub(crate) name: String,
    pub(crate) login: Option<NatsLogin>,
}

/// Login at NATS.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum NatsLogin {
    Password { user: String, password: String },
    Token(String),
}

/// Address of a server for clients: `https://HOST[:PORT]`, or `http://`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicUrl(String);

/// Name of a server or region in its cluster: letters, digits, `-`, `_`, and dots between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeName(String);

/// Reason why the address of a cluster or the name of a server is invalid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClusterAddressError {
    /// Another scheme, or none.
    #[error("write the NATS server as nats://HOST:PORT, or tls://HOST:PORT")]
    NoNats,
    /// The host is missing.
    #[error("the host of the NATS server is missing: nats://HOST:PORT")]
    NoHost,
    /// The port is not a number.
    #[error("the port of the NATS server is a number from 1 to 65535")]
    BadPort,
    /// The name has other characters, or is too long.
    #[error(
        "a cluster, server or region has 1 to 63 letters, digits, '-', '_', and dots between them as \
         its name, not '{0}'"
    )]
    BadName(String),
    /// The URL for clients has another form.
    #[error("write the address of this server for clients as https://HOST[:PORT], without a path")]
    BadPublicUrl,
    /// The credentials are empty.
    #[error("the login for NATS is a line USER:PASSWORD, or a token")]
    NoLogin,
}

impl ClusterAddress {
    /// Adds the login from a file: a line `USER:PASSWORD`, or a token.
    ///
    /// # Errors
    /// If the line is empty.
    pub fn with_login(self, line: &str) -> Result<ClusterAddress, ClusterAddressError> {
        let line = line.trim();
        let login = match line.split_once(':') {
            _ if line.is_empty() => return Err(ClusterAddressError::NoLogin),
            Some((user, password)) => NatsLogin::Password {
                user: user.to_owned(),
                password: password.to_owned(),
            },
            None => NatsLogin::Token(line.to_owned()),
        };
        let login = Some(login);
        Ok(ClusterAddress { login, ..self })
    }
}

impl FromStr for ClusterAddress {
    type Err = ClusterAddressError;

    fn from_str(text: &str) -> Result<ClusterAddress, ClusterAddressError> {
        let (scheme, rest) = text
            .split_once("://")
            .filter(|(scheme, _)| ["nats", "tls"].contains(scheme))
            .ok_or(ClusterAddressError::NoNats)?;
        let (server, name) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, host) = match server.rsplit_once('@') {
            Some((login, host)) => (Some(login), host),
            None => (None, server),
        };
        let after_brackets = host.rfind(']').map_or(0, |end| end + 1);
        let (host, port) = match host[after_brackets..].split_once(':') {
            Some((more, port)) => (&host[..after_brackets + more.len()], port.parse()),
            None => (host, Ok(PORT)),
        };
        let port = port.ok().filter(|port| *port > 0);
        let port = port.ok_or(ClusterAddressError::BadPort)?;
        if host.is_empty() {
            return Err(ClusterAddressError::NoHost);
        }
        let name = match name {
            "" => UNNAMED.to_owned(),
            name => checked(name)?,
        };
        Ok(ClusterAddress {
            nats: format!("{scheme}://{host}:{port}"),
            name,
            login: login.map(login_of).transpose()?,
        })
    }
}

/// Returns the login in a URL (RFC 3986 section 3.2.1).
fn login_of(text: &str) -> Result<NatsLogin, ClusterAddressError> {
    let plain = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
    match text.split_once(':') {
        Some((user, password)) => Ok(NatsLogin::Password {
            user: plain(user),
            password: plain(password),
        }),
        None if text.is_empty() => Err(ClusterAddressError::NoLogin),
        None => Ok(NatsLogin::Token(plain(text))),
    }
}

/// Checks a name, which is part of the names of subjects at NATS.
fn checked(name: &str) -> Result<String, ClusterAddressError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_".contains(&b);
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(plain);
    match name.len() <= LONGEST && name.split('.').all(is_label) {
        true => Ok(name.to_owned()),
        false => Err(ClusterAddressError::BadName(name.to_owned())),
    }
}

impl FromStr for NodeName {
    type Err = ClusterAddressError;

    fn from_str(text: &str) -> Result<NodeName, ClusterAddressError> {
        checked(text).map(NodeName)
    }
}

impl NodeName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PublicUrl {
    type Err = ClusterAddressError;

    fn from_str(text: &str) -> Result<PublicUrl, ClusterAddressError> {
        let uri: Uri = text
            .parse()
            .map_err(|_| ClusterAddressError::BadPublicUrl)?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        // Other characters could end it in a header or a policy.
        let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:/[]".contains(&b);
        let is_origin = uri.path() == "/" && text.bytes().all(is_plain);
        match uri.host() {
            Some(host) if is_http && is_origin && !host.is_empty() => {
                Ok(PublicUrl(text.trim_end_matches('/').to_owned()))
            }
            _ => Err(ClusterAddressError::BadPublicUrl),
        }
    }
}

impl PublicUrl {
    /// The address without a trailing slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Without the login.
impl fmt::Debug for ClusterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.nats, self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_defaults_and_hides_its_login() {
        let address = |text: &str| text.parse::<ClusterAddress>();
        let plain = address("nats://nats.example").unwrap();
        assert_eq!(format!("{plain:?}"), "nats://nats.example:4222/weft");
        assert!(plain.login.is_none());
        let full = address("tls://ada:p%40ss@[::1]:4333/calls.eu").unwrap();
        assert_eq!(format!("{full:?}"), "tls://[::1]:4333/calls.eu");
        let login = NatsLogin::Password {
            user: "ada".to_owned(),
            password: "p@ss".to_owned(),
        };
        assert!(full.login.as_ref() == Some(&login));
        assert!(plain.clone().with_login("ada:p@ss\n").unwrap().login == Some(login));
        let token = plain.with_login("s3cret").unwrap().login;
        assert!(token == Some(NatsLogin::Token("s3cret".to_owned())));
    }

    #[test]
    fn a_public_url_is_an_origin() {
        let url = |text: &str| text.parse::<PublicUrl>().map(|url| url.0);
        let own = Ok("https://one.example:8443".to_owned());
        assert_eq!(url("https://one.example:8443/"), own);
        assert_eq!(url("http://[::1]:80"), Ok("http://[::1]:80".to_owned()));
        for bad in [
            "one.example",
            "ftp://one.example",
            "https://",
            "https://one.example/weft",
            "https://one.example/?a",
            "https://one.example#a",
            "https://ada:pw@one.example",
            "https://one.example;script-src",
            "https://*.example",
            "https://one.example,two.example",
        ] {
            assert_eq!(url(bad), Err(ClusterAddressError::BadPublicUrl), "{bad}");
        }
    }

    #[test]
    fn an_address_that_cannot_be_used_is_refused_with_its_fault() {
        use ClusterAddressError as E;
        for (text, error) in [
            ("nats.example:4222", E::NoNats),
            ("http://nats.example", E::NoNats),
            ("nats://", E::NoHost),
            ("nats://ada:pw@:4222", E::NoHost),
            ("nats://nats.example:0", E::BadPort),
            ("nats://nats.example:port", E::BadPort),
            ("nats://[::1]:", E::BadPort),
            ("nats://@nats.example", E::NoLogin),
            ("nats://n/a/b", E::BadName("a/b".to_owned())),
            ("nats://n/a..b", E::BadName("a..b".to_owned())),
            ("nats://n/*", E::BadName("*".to_owned())),
        ] {
            assert_eq!(text.parse::<ClusterAddress>(), Err(error), "{text}");
        }
        for name in ["", ".", "a.", ">", "a b", &"a".repeat(64)] {
            assert!(name.parse::<NodeName>().is_err(), "{name}");
        }
        assert!("media-1.example".parse::<NodeName>().is_ok());
    }
}
