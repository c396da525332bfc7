use crate::config::MediaConfig;
use crate::error::ServerError;
use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

#[cfg(test)]
mod tests;

/// Maximum number of addresses offered to a peer: each forms a pair with each
/// of the peer's addresses, and an association limits its pairs.
const MAX_ADDRESSES: usize = 8;

/// Name prefixes of interfaces of containers, virtual machines and tunnels:
/// their addresses are unreachable for other machines, and they reveal private
/// details.
const VIRTUAL: &[&str] = &[
    "docker",
    "br-",
    "veth",
    "virbr",
    "vnet",
    "cni",
    "cali",
    "flannel",
    "podman",
    "lxc",
    "lxd",
    "tun",
    "tap",
    "wg",
    "utun",
    "tailscale",
    "zt",
];

/// Address and its sockets, one for each plane.
type Shared = (SocketAddr, Vec<UdpSocket>);

/// Opens the sockets of each address, all on the same port.
pub(super) fn open(
    http: IpAddr,
    config: &MediaConfig,
    planes: usize,
) -> Result<Vec<Shared>, ServerError> {
    let addresses = addresses(http, config)?;
    let mut ports = config.ports.clone();
    loop {
        let port = ports.next().unwrap_or(*config.ports.end());
        match open_all(&addresses, port, planes) {
            Err(ServerError::PortTaken { .. }) if !ports.is_empty() => {}
            done => return done,
        }
    }
}

fn open_all(addresses: &[IpAddr], first: u16, planes: usize) -> Result<Vec<Shared>, ServerError> {
    let mut port = first;
    let mut sockets = Vec::new();
    for ip in addresses {
        let wanted = SocketAddr::new(*ip, port);
        let fail = |error| ServerError::listen(wanted, error);
        let opened = match planes {
            1 => vec![weft_net::open_address(wanted).map_err(fail)?],
            _ => weft_net::open_shared(wanted, planes).map_err(fail)?,
        };
        let address = opened[0].local_addr().map_err(fail)?;
        port = address.port();
        sockets.push((address, opened));
    }
    Ok(sockets)
}

fn addresses(http: IpAddr, config: &MediaConfig) -> Result<Vec<IpAddr>, ServerError> {
    let named = !config.interfaces.is_empty();
    if !named && !config.addresses.is_empty() {
        return Ok(config.addresses.clone());
    }
    if !named && http.is_loopback() {
        return Ok(vec![http]);
    }
    let all = weft_net::interface_addresses().map_err(|e: io::Error| ServerError::System {
        reason: format!("it does not list the network interfaces: {e}"),
    })?;
    let mut chosen = config.addresses.clone();
    match named {
        true => chosen.extend(of_interfaces(&all, &config.interfaces)?),
        false => chosen.extend(own(&all)),
    }
    Ok(chosen)
}

fn of_interfaces(all: &[(String, IpAddr)], wanted: &[String]) -> Result<Vec<IpAddr>, ServerError> {
    let mut chosen = Vec::new();
    for name in wanted {
        let before = chosen.len();
        chosen.extend(all.iter().filter(|(at, _)| at == name).map(|(_, ip)| *ip));
        if chosen.len() == before {
            return Err(ServerError::NoInterface { name: name.clone() });
        }
    }
    Ok(chosen)
}

/// Addresses that are reachable from other machines, according to interface names, IPv4
/// first, because most peers have it. Falls back to all addresses, then to loopback.
fn own(all: &[(String, IpAddr)]) -> Vec<IpAddr> {
    let outside = |(_, ip): &&(String, IpAddr)| !ip.is_loopback();
    let real = |(name, _): &&(String, IpAddr)| !VIRTUAL.iter().any(|v| name.starts_with(v));
    let mut chosen: Vec<IpAddr> = all.iter().filter(outside).filter(real).map(ip).collect();
    if chosen.is_empty() {
        chosen = all.iter().filter(outside).map(ip).collect();
    }
    if chosen.is_empty() {
        chosen = all.iter().map(ip).collect();
    }
    chosen.sort_by_key(IpAddr::is_ipv6);
    chosen.truncate(MAX_ADDRESSES);
    chosen
}

fn ip((_, ip): &(String, IpAddr)) -> IpAddr {
    *ip
}
