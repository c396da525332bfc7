//! Where a request comes from, for quotas.

use crate::auth::{Access, Grant};
use crate::crowd::network;
use crate::listener::Connections;
use crate::places::Known;
use axum::extract::connect_info::Connected;
use axum::http::HeaderMap;
use axum::serve::IncomingStream;
use std::net::IpAddr;

/// The other end of a connection.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    ip: IpAddr,
    /// Whether somebody was let in over the connection.
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

/// Who asks, as far as quotas go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    /// Their address or network; none of this machine.
    pub(crate) network: Option<IpAddr>,
    /// What the signed token grants that they showed.
    pub(crate) grant: Option<Grant>,
}

impl Origin {
    pub(crate) fn new(peer: &Peer, headers: &HeaderMap, access: &Access) -> Origin {
        let grant = match access {
            Access::Everywhere => None,
            Access::Granted(grant) => Some(grant.clone()),
        };
        Origin {
            network: address_of(peer, headers).and_then(network),
            grant,
        }
    }
}

/// Returns the address that a request comes from; none of this machine.
pub(crate) fn address_of(peer: &Peer, headers: &HeaderMap) -> Option<IpAddr> {
    let address = match peer.ip.to_canonical() {
        // A proxy on this machine says for whom it speaks. Anybody else here who
        // says so gives up that they are not counted.
        ip if ip.is_loopback() => forwarded_for(headers),
        ip => Some(ip),
    };
    address.filter(|ip| !ip.is_loopback())
}

/// The last address in `X-Forwarded-For`: that which the nearest proxy saw; the
/// ones before are what its client said.
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
    fn a_proxy_on_this_machine_is_believed_and_nobody_else() {
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
