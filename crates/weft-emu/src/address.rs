use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses of links come from the blocks reserved for network measurements, which no
/// real network uses: 198.18.0.0/15 (RFC 2544 appendix C.2.2) and 2001:2::/48 (RFC 5180
/// section 8).
const V4_BLOCK: [u8; 2] = [198, 18];
/// Number of links that fit into their part of the block.
pub(crate) const MAX_LINKS: usize = 256;
/// Last byte of a host's address in its own network.
const FIRST: u8 = 1;
/// Number of hosts that fit onto a link and into a network: the last byte from 1 to 254.
pub const MAX_HOSTS: usize = 254;

/// Addresses of a host, on a link or independent of links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Addresses {
    /// IPv4, from 198.18.0.0/15.
    pub v4: Ipv4Addr,
    /// IPv6, from 2001:2::/48. Missing when the kernel has no IPv6.
    pub v6: Ipv6Addr,
}

impl Addresses {
    /// Returns the addresses of host `index` (from 0) on the link with subnet `subnet`.
    pub(crate) fn on_link(subnet: usize, index: usize) -> Addresses {
        let [a, b] = V4_BLOCK;
        let (subnet, host) = (subnet as u8, index as u8 + 1);
        Addresses {
            v4: Ipv4Addr::new(a, b, subnet, host),
            v6: v6(subnet.into(), host),
        }
    }

    /// Returns the addresses of host `index` that belong to no link. The IPv4 address is
    /// the first of a 24-bit network of this host alone.
    pub(crate) fn of_host(index: usize) -> Addresses {
        let [a, b] = V4_BLOCK;
        let host = index as u8 + 1;
        Addresses {
            v4: Ipv4Addr::new(a, b + 1, host, FIRST),
            v6: v6(0x100, host),
        }
    }
}

/// Returns the address to which packets are routed: for a host's own network, its first
/// address.
pub(crate) fn known(address: IpAddr) -> IpAddr {
    let [first, second] = V4_BLOCK;
    match address {
        IpAddr::V4(v4) => match v4.octets() {
            [a, b, host, _] if [a, b] == [first, second + 1] => {
                Ipv4Addr::new(a, b, host, FIRST).into()
            }
            _ => address,
        },
        IpAddr::V6(_) => address,
    }
}

/// Returns the IPv4 network of the link with subnet `subnet`; 24 bits long.
pub(crate) fn v4_network(subnet: usize) -> Ipv4Addr {
    let [a, b] = V4_BLOCK;
    Ipv4Addr::new(a, b, subnet as u8, 0)
}

fn v6(subnet: u16, host: u8) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 2, 0, subnet, 0, 0, 0, host.into())
}
