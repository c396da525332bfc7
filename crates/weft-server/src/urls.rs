//! URLs of a server.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// URL for a browser on this machine.
pub(crate) fn url_of(address: SocketAddr, tls: bool) -> String {
    let scheme = if tls { "https" } else { "http" };
    let reachable = if address.ip().is_unspecified() {
        SocketAddr::from((Ipv4Addr::LOCALHOST, address.port()))
    } else {
        address
    };
    format!("{scheme}://{reachable}/")
}

/// URLs for other machines, of a server that listens on every address.
pub(crate) fn urls_elsewhere(listening: SocketAddr, tls: bool) -> Vec<String> {
    if !listening.ip().is_unspecified() {
        return Vec::new();
    }
    // Without the list of addresses, the first one remains.
    let own = weft_net::machine_addresses().unwrap_or_default();
    let reached = |ip: &IpAddr| !ip.is_loopback() && (ip.is_ipv4() || listening.is_ipv6());
    let address = |ip: IpAddr| SocketAddr::from((ip, listening.port()));
    own.into_iter()
        .filter(reached)
        .map(|ip| url_of(address(ip), tls))
        .collect()
}

/// All characters except the unreserved ones (RFC 3986 section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Text escaped as one path segment, or as a value in a query.
pub(crate) fn escaped(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}
