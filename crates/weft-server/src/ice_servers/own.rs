//! URLs of the built-in TURN server.

use axum::http::uri::Authority;
use std::net::IpAddr;
use std::str::FromStr;
use thiserror::Error;

/// Host and port by which clients reach this server's HTTP port directly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnName(Authority);

/// Reason why a text is not a host with a port.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("write the host and port by which clients reach this server, such as turn.example:443")]
pub struct TurnNameError;

impl TurnName {
    /// Port.
    #[must_use]
    pub fn port(&self) -> u16 {
        // Checked when it was parsed.
        self.0.port_u16().unwrap_or_default()
    }
}

impl FromStr for TurnName {
    type Err = TurnNameError;

    fn from_str(text: &str) -> Result<TurnName, TurnNameError> {
        let name: Authority = text.parse().map_err(|_| TurnNameError)?;
        let has_port = name.port_u16().is_some_and(|port| port > 0);
        match is_usable(&name) && has_port {
            true => Ok(TurnName(name)),
            false => Err(TurnNameError),
        }
    }
}

/// Built-in TURN server as clients see it.
#[derive(Debug, Clone)]
pub(crate) struct OwnTurn {
    /// Shared secret, from which credentials are made.
    pub(crate) secret: String,
    /// Name from the operator; without it, that of each request is used.
    pub(crate) name: Option<TurnName>,
    /// Address of HTTP.
    pub(crate) listen: IpAddr,
    /// Whether HTTP is over TLS.
    pub(crate) is_secure: bool,
    /// Whether its certificate may be one that browsers trust. They offer no exception
    /// for others.
    pub(crate) is_trusted: bool,
}

impl OwnTurn {
    /// URLs for a client whose request was for this host, plain TCP first, which takes
    /// fewer round trips; empty without a usable host.
    pub(super) fn urls(&self, host: Option<&str>) -> Vec<String> {
        let named = self.name.as_ref().map(|name| name.0.clone());
        let asked = || host?.parse::<Authority>().ok();
        let Some(name) = named.or_else(asked).filter(is_usable) else {
            return Vec::new();
        };
        let default_port = if self.is_secure { 443 } else { 80 };
        let port = name.port_u16().unwrap_or(default_port);
        let host = match name.host() {
            // Browsers would try only one of its addresses.
            "localhost" if self.listen.is_loopback() => match self.listen {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            },
            host => host.to_owned(),
        };
        let tls = self.is_secure && self.is_trusted;
        let schemes = ["turn"].into_iter().chain(tls.then_some("turns"));
        let url = |scheme| format!("{scheme}:{host}:{port}?transport=tcp");
        schemes.map(url).collect()
    }
}

fn is_usable(name: &Authority) -> bool {
    super::is_host(name.host()) && !name.as_str().contains('@')
}
