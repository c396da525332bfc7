//! Routes and reverse path filters of the system that block a link's packets.

use std::fs;
use std::io;
use std::net::IpAddr;

use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_ROUTE;

use crate::{LinkChoice, Target};

/// Fault of this machine that blocks the packets of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteFault {
    /// No route leads over the interface, so packets stay on this machine.
    NoRoute {
        /// Name of the interface.
        interface: String,
    },
    /// The reverse path filter is strict, and the route back to the sender uses
    /// another interface: answers are dropped.
    ReversePathFilter {
        /// Name of the interface.
        interface: String,
    },
}

impl RouteFault {
    /// Commands that fix it, a sentence without its full stop.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            RouteFault::NoRoute { interface } => format!(
                "add one: `ip route add default via GATEWAY dev {interface} metric 200`, where \
                 GATEWAY is the router of that network"
            ),
            RouteFault::ReversePathFilter { interface } => format!(
                "loosen it: `sysctl -w net.ipv4.conf.all.rp_filter=2 \
                 net.ipv4.conf.{interface}.rp_filter=2`"
            ),
        }
    }
}

impl std::fmt::Display for RouteFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RouteFault::NoRoute { interface } => {
                write!(f, "there is no route over {interface}")
            }
            RouteFault::ReversePathFilter { interface } => write!(
                f,
                "this machine drops packets that arrive over {interface}, because its reverse path \
                 filter is strict (rp_filter=1)"
            ),
        }
    }
}

/// Fault that keeps a link from reaching a server; `None` if one of its
/// addresses can, or the system does not say.
#[must_use]
pub fn route_fault(spec: &LinkChoice, server: IpAddr) -> Option<RouteFault> {
    let interfaces = if_addrs::get_if_addrs().ok()?;
    let own = interfaces.into_iter().filter(|i| match &spec.target {
        Target::Interface(name) => i.name == *name,
        Target::Address(address) => i.ip() == *address,
    });
    let mut faults = own
        .filter(|i| i.ip().is_ipv4() == server.is_ipv4() && !i.ip().is_loopback())
        .filter(|i| super::link::is_usable(&i.ip()))
        .map(|i| interface_fault(&i.name, i.index?, i.ip(), server));
    let first = faults.next()??;
    faults.all(|fault| fault.is_some()).then_some(first)
}

fn interface_fault(
    interface: &str,
    index: u32,
    address: IpAddr,
    server: IpAddr,
) -> Option<RouteFault> {
    let interface = interface.to_owned();
    match route(Some(index), address, server) {
        Ok(_) => {}
        Err(error) if is_unreachable(&error) => return Some(RouteFault::NoRoute { interface }),
        Err(_) => return None,
    }
    // The filter's own question: where would this machine send an answer?
    let back = route(None, address, server).ok().flatten();
    let elsewhere = back.is_none_or(|back| back != index);
    let is_filtered = server.is_ipv4() && elsewhere && is_strict(&interface);
    is_filtered.then_some(RouteFault::ReversePathFilter { interface })
}

/// Whether the reverse path filter is strict there: the larger of the two
/// settings counts (linux, Documentation/networking/ip-sysctl.rst).
fn is_strict(interface: &str) -> bool {
    let setting = |name: &str| {
        let path = format!("/proc/sys/net/ipv4/conf/{name}/rp_filter");
        let text = fs::read_to_string(path).unwrap_or_default();
        text.trim().parse::<u32>().unwrap_or_default()
    };
    setting("all").max(setting(interface)) == 1
}

fn is_unreachable(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable
    )
}

// linux/netlink.h, linux/rtnetlink.h.
const NLM_F_REQUEST: u16 = 1;
const NLMSG_ERROR: u16 = 2;
const RTM_NEWROUTE: u16 = 24;
const RTM_GETROUTE: u16 = 26;
const RTA_DST: u16 = 1;
const RTA_SRC: u16 = 2;
const RTA_OIF: u16 = 4;
/// Requests the entry of the table. Without it, Linux treats every host as a
/// neighbour on an interface without a route.
const RTM_F_FIB_MATCH: u32 = 0x2000;
/// Lengths of `struct nlmsghdr` and `struct rtmsg`.
const HEADER: usize = 16;
const ROUTE: usize = 12;

/// Looks up a route (rtnetlink(7)), over this interface or any. Returns the
/// interface of the route, if the system names one.
fn route(over: Option<u32>, source: IpAddr, destination: IpAddr) -> io::Result<Option<u32>> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.send(&request(over, source, destination), 0)?;
    let mut answer = Vec::with_capacity(4096);
    socket.recv(&mut answer, 0)?;
    let word = |at: usize| {
        let bytes = answer.get(at..at + 4)?;
        Some(u32::from_ne_bytes(bytes.try_into().ok()?))
    };
    let half = |at: usize| {
        let bytes = answer.get(at..at + 2)?;
        Some(u16::from_ne_bytes(bytes.try_into().ok()?))
    };
    match half(4) {
        Some(NLMSG_ERROR) => {
            let code = word(HEADER).unwrap_or_default() as i32;
            return Err(io::Error::from_raw_os_error(-code));
        }
        Some(RTM_NEWROUTE) => {}
        _ => return Err(io::ErrorKind::InvalidData.into()),
    }
    let mut at = HEADER + ROUTE;
    while let (Some(length), Some(kind)) = (half(at), half(at + 2)) {
        if kind == RTA_OIF {
            return Ok(word(at + 4));
        }
        // Attributes are aligned to four bytes and have a header of four.
        at += usize::from(length).max(4).next_multiple_of(4);
    }
    Ok(None)
}

fn request(over: Option<u32>, source: IpAddr, destination: IpAddr) -> Vec<u8> {
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    let octets = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let (family, bits) = match destination {
        IpAddr::V4(_) => (AF_INET, 32),
        IpAddr::V6(_) => (AF_INET6, 128),
    };
    let flags = over.map_or(0, |_| RTM_F_FIB_MATCH);
    let mut body = vec![family, bits, bits, 0, 0, 0, 0, 0];
    body.extend(flags.to_ne_bytes());
    let mut attribute = |kind: u16, value: &[u8]| {
        body.extend(((4 + value.len()) as u16).to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(value);
    };
    attribute(RTA_DST, &octets(destination));
    attribute(RTA_SRC, &octets(source));
    if let Some(index) = over {
        attribute(RTA_OIF, &index.to_ne_bytes());
    }
    let mut message = ((HEADER + body.len()) as u32).to_ne_bytes().to_vec();
    message.extend(RTM_GETROUTE.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    // Sequence number and port: this socket has only one request.
    message.extend([0; 8]);
    message.extend(body);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_leads_to_this_machine_and_nowhere_else() {
        let here = IpAddr::from([127, 0, 0, 1]);
        let all = if_addrs::get_if_addrs().expect("a list");
        let lo = all.iter().find(|i| i.ip() == here).and_then(|i| i.index);
        assert!(lo.is_some());
        assert_eq!(route(None, here, here).expect("a route"), lo);
        // Documentation address, which no machine has (RFC 5737).
        let away = IpAddr::from([192, 0, 2, 1]);
        let error = route(lo, here, away).expect_err("not over loopback");
        assert!(
            is_unreachable(&error) || error.kind() == io::ErrorKind::InvalidInput,
            "{error}"
        );
    }
}
