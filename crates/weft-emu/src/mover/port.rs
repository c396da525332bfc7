use crate::address::Addresses;
use crate::tun::Tun;
use crate::{HostId, LinkId, Side};
use std::collections::BTreeMap;
use std::net::IpAddr;
use weft_links::StationId;

/// A host's device on a link.
pub(crate) struct Port {
    pub tun: Tun,
    pub host: HostId,
    /// Where its packets go.
    pub link: LinkId,
    side: Side,
    own: Vec<Addresses>,
    across: BTreeMap<IpAddr, usize>,
    beside: BTreeMap<IpAddr, usize>,
}

/// What others must know of a port.
pub(crate) struct Identity {
    link: LinkId,
    side: Side,
    own: Vec<Addresses>,
}

impl Port {
    pub fn new(tun: Tun, host: HostId, link: LinkId, side: Side, own: Vec<Addresses>) -> Port {
        Port {
            tun,
            host,
            link,
            side,
            own,
            across: BTreeMap::new(),
            beside: BTreeMap::new(),
        }
    }

    /// What its packets are sent as.
    pub fn station(&self) -> StationId {
        self.side.leaves_by().station()
    }

    pub fn identity(&self) -> Identity {
        Identity {
            link: self.link,
            side: self.side,
            own: self.own.clone(),
        }
    }

    /// Learns where which address is; `all` are the ports by number.
    pub fn set_neighbours(&mut self, all: &[Identity]) {
        let on_link = all
            .iter()
            .enumerate()
            .filter(|(_, other)| other.link == self.link);
        for (number, other) in on_link {
            let table = if other.side == self.side {
                &mut self.beside
            } else {
                &mut self.across
            };
            for Addresses { v4, v6 } in &other.own {
                table.insert(IpAddr::V4(*v4), number);
                table.insert(IpAddr::V6(*v6), number);
            }
        }
    }

    /// The port that has the address on the other side of the link.
    pub fn across(&self, address: IpAddr) -> Option<usize> {
        self.across.get(&address).copied()
    }

    /// The one that has it on the same side.
    pub fn beside(&self, address: IpAddr) -> Option<usize> {
        self.beside.get(&address).copied()
    }
}
