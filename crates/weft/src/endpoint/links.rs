//! The links of this endpoint, opened.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use weft_net::{Binding, Link, LinkError, LinkSpec};
use weft_secure::{LinkId, LocalAddress, RemoteFilter};

/// ICE network cost: the first link named is the cheapest (libwebrtc's scale
/// of 0 to 999; 10 apart, so that the order shows and nothing more).
const COST_STEP: u16 = 10;

/// A socket on a link, and what the association has to know of it.
pub struct Access {
    pub local: LocalAddress,
    pub socket: UdpSocket,
}

/// The links as they were named.
#[derive(Clone, Debug)]
pub struct Links {
    specs: Vec<LinkSpec>,
}

impl Links {
    /// Checks that every link is there now, and warns of those whose sockets
    /// cannot be tied to their interface.
    pub fn check(specs: Vec<LinkSpec>) -> Result<Links, LinkError> {
        for spec in &specs {
            let link = Link::open(spec, 0)?;
            let tied = link.binding == Binding::Interface || spec.via.is_some();
            let loopback = link.addresses().iter().all(|a| a.ip().is_loopback());
            if !tied && !loopback && specs.len() > 1 {
                eprintln!(
                    "weft: link `{}`: no right to tie sockets to the interface; only the source \
                     address is fixed (run as root, or `setcap cap_net_raw+ep` on the binary, or \
                     add `ip rule add from ADDRESS`)",
                    spec.name
                );
            }
        }
        Ok(Links { specs })
    }

    /// What people call them, in the order of their ids.
    pub fn names(&self) -> Vec<String> {
        self.specs.iter().map(|s| s.name.clone()).collect()
    }

    /// Addresses that stand for every peer on tunnelled links.
    pub fn vias(&self) -> impl Iterator<Item = SocketAddr> {
        self.specs.iter().filter_map(|s| s.via)
    }

    /// Sockets on all addresses that the links have now, but for those that
    /// `except` are in use already. A link that is away gives none.
    pub fn open(&self, except: &[IpAddr]) -> Vec<Access> {
        let mut all = Vec::new();
        for (index, spec) in self.specs.iter().enumerate() {
            let Ok(link) = Link::open(spec, 0) else {
                continue;
            };
            let remotes = match spec.via {
                Some(via) => RemoteFilter::Only(vec![via]),
                None => RemoteFilter::Any,
            };
            for socket in link.sockets {
                let Ok(bound) = socket.local_addr() else {
                    continue;
                };
                if except.contains(&bound.ip()) {
                    continue;
                }
                let local = LocalAddress {
                    addr: bound,
                    link: LinkId(index as u8),
                    cost: COST_STEP * index as u16,
                    remotes: remotes.clone(),
                };
                all.push(Access { local, socket });
            }
        }
        all
    }

    /// The addresses that the links have now.
    pub fn present(&self) -> Vec<IpAddr> {
        self.specs.iter().flat_map(addresses_of).collect()
    }
}

fn addresses_of(spec: &LinkSpec) -> Vec<IpAddr> {
    weft_net::link_addresses(spec).unwrap_or_default()
}
