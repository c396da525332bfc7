//! Origin of a request, for quotas.

use crate::auth::{Access, Grant, May};
use crate::connection_limit::network;
use crate::http_slots::Known;
use crate::listener::Connections;
use axum::extract::connect_info::Connected;
use axum::http::HeaderMap;
use axum::serve::IncomingStream;
use std::net::IpAddr;
use weft_rooms::Standing;

/// Other end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    ip: IpAddr,
    /// Whether a client was admitted over the connection.
    pub(crate) known: Known,
}

impl From<IpAddr> for Peer {
    fn from(ip: IpAddr) -> Peer {
        let known = Known::default();
        Peer { ip, known }
    }
}

impl Connected<IncomingStream<'_, Connections>> for Peer {
    fn connect_info(stream: IncomingStream<'_, Connections>) -> Peer {
        let (ip, known) = (stream.remote_addr().ip(), stream.io().known());
        Peer { ip, known }
    }
}

/// Origin of a request, for quotas.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Address or network; `None` for this machine.
    pub(crate) network: Option<IpAddr>,
    /// Grant of the signed token in the request.
    pub(crate) grant: Option<Grant>,
    /// Rights in the room.
    pub(crate) standing: Standing,
}

impl Origin {
    pub(crate) fn new(peer: &Peer, headers: &HeaderMap, access: &Access) -> Origin {
        let (grant, standing) = match access {
            Access::Open => (None, Standing::Equal),
            Access::Everywhere => (None, Standing::Host),
            Access::Granted(grant) if grant.may >= May::Moderate => {
                (Some(grant.clone()), Standing::Host)
            }
            Access::Granted(grant) => (Some(grant.clone()), Standing::Guest),
        };
        Origin {
            network: address_of(peer, headers).and_then(network),
            grant,
            standing,
        }
    }
}

/// Returns the address that a request comes from; `None` for this machine.
pub(crate) fn address_of(peer: &Peer, headers: &HeaderMap) -> Option<IpAddr> {
    let address = match peer.ip.to_canonical() {
        // Trust `X-Forwarded-For` from a proxy on this machine. Another local
        // client that sets it only becomes subject to the limits.
        ip if ip.is_loopback() => forwarded_for(headers),
        ip => Some(ip),
    };
    address.filter(|ip| !ip.is_loopback())
}

/// Last address in `X-Forwarded-For`, which the nearest proxy has seen; the
/// ones before it were sent by its client.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let last = headers.get_all("x-forwarded-for").into_iter().next_back()?;
    let address = last.to_str().ok()?.rsplit(',').next()?.trim();
    address.parse().ok().map(|ip: IpAddr| ip.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(peer: &str, forwarded: &[&str]) -> Option<IpAddr> {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append("x-forwarded-for", value.parse().unwrap());
        }
        let peer = Peer::from(peer.parse::<IpAddr>().unwrap());
        Origin::new(&peer, &headers, &Access::Everywhere).network
    }

    #[test]
    fn only_a_proxy_on_this_machine_is_trusted() {
        let ip = |text: &str| Some(text.parse::<IpAddr>().unwrap());
        assert_eq!(origin("127.0.0.1", &[]), None);
        assert_eq!(origin("::ffff:127.0.0.1", &["192.0.2.7"]), ip("192.0.2.7"));
        let said = ["198.51.100.1", "203.0.113.9, 192.0.2.7"];
        assert_eq!(origin("127.0.0.1", &said), ip("192.0.2.7"));
        assert_eq!(origin("192.0.2.1", &["192.0.2.7"]), ip("192.0.2.1"));
        assert_eq!(origin("2001:db8::1", &[]), ip("2001:db8::"));
        assert_eq!(origin("127.0.0.1", &["unknown"]), None);
    }
}
