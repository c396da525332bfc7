use crate::address::{Addresses, known};
use crate::tun::Tun;
use crate::window::ReceiveWindow;
use crate::{HostId, LinkId};
use std::collections::BTreeMap;
use std::net::IpAddr;
use weft_links::{MediumSpec, StationId, TrafficClass};

/// A host's device on a link.
pub(crate) struct Port {
    pub tun: Tun,
    pub host: HostId,
    /// Link that carries its packets.
    pub link: LinkId,
    /// Station that its packets are sent from.
    pub station: StationId,
    /// Traffic class of its packets.
    pub class: TrafficClass,
    /// Limit of TCP receive windows at this host.
    pub window: Option<ReceiveWindow>,
    own: Vec<Addresses>,
    across: BTreeMap<IpAddr, usize>,
    beside: BTreeMap<IpAddr, usize>,
}

/// Properties of a port that other ports need.
pub(crate) struct Identity {
    link: LinkId,
    station: StationId,
    own: Vec<Addresses>,
}

impl Port {
    pub fn new(
        tun: Tun,
        host: HostId,
        link: LinkId,
        station: StationId,
        own: Vec<Addresses>,
    ) -> Port {
        Port {
            tun,
            host,
            link,
            station,
            class: TrafficClass::default(),
            window: None,
            own,
            across: BTreeMap::new(),
            beside: BTreeMap::new(),
        }
    }

    pub fn identity(&self) -> Identity {
        Identity {
            link: self.link,
            station: self.station,
            own: self.own.clone(),
        }
    }

    /// Sets the ports of each address on this medium; `all` are the ports by number.
    pub fn set_neighbours(&mut self, medium: &MediumSpec, all: &[Identity]) {
        let on_link = all
            .iter()
            .enumerate()
            .filter(|(_, other)| other.link == self.link);
        for (number, other) in on_link {
            let table = if other.station == self.station {
                &mut self.beside
            } else if medium.carries(self.station, other.station) {
                &mut self.across
            } else {
                continue;
            };
            for Addresses { v4, v6 } in &other.own {
                table.insert(IpAddr::V4(*v4), number);
                table.insert(IpAddr::V6(*v6), number);
            }
        }
    }

    /// Returns the port with this address at another station of the link.
    pub fn across(&self, address: IpAddr) -> Option<usize> {
        self.across.get(&known(address)).copied()
    }

    /// Returns the port with this address at the same station.
    pub fn beside(&self, address: IpAddr) -> Option<usize> {
        self.beside.get(&known(address)).copied()
    }
}
