use crate::config::MediaConfig;
use crate::error::ServerError;
use std::net::{IpAddr, SocketAddr, UdpSocket};

/// Most addresses that are offered to a peer: each makes a pair with each of
/// the peer's, and an association has a bounded number of them.
const MAX_ADDRESSES: usize = 8;

/// Opens one socket per address, all on the same port.
pub(super) fn open(
    http: IpAddr,
    config: &MediaConfig,
) -> Result<Vec<(SocketAddr, UdpSocket)>, ServerError> {
    let addresses = match config.addresses.as_slice() {
        [] => addresses_beside(http)?,
        given => given.to_vec(),
    };
    let mut port = config.port;
    let mut sockets = Vec::new();
    for ip in addresses.into_iter().take(MAX_ADDRESSES) {
        let wanted = SocketAddr::new(ip, port);
        let fail = |error| ServerError::listen(wanted, error);
        let socket = weft_net::open_address(wanted).map_err(fail)?;
        let address = socket.local_addr().map_err(fail)?;
        port = address.port();
        sockets.push((address, socket));
    }
    Ok(sockets)
}

/// Loopback beside HTTP on loopback; otherwise what others can reach, or
/// loopback if there is nothing else.
fn addresses_beside(http: IpAddr) -> Result<Vec<IpAddr>, ServerError> {
    if http.is_loopback() {
        return Ok(vec![http]);
    }
    let mut all = weft_net::machine_addresses().map_err(|e| ServerError::System {
        reason: format!("it does not list the network interfaces: {e}"),
    })?;
    if all.iter().any(|ip| !ip.is_loopback()) {
        all.retain(|ip| !ip.is_loopback());
    }
    Ok(all)
}
