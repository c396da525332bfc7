use std::net::{IpAddr, SocketAddr};

/// Media addresses of this server, the only peers of its TURN clients.
#[derive(Debug, Clone, Default)]
pub(crate) struct MediaPeers {
    /// Local addresses, each with the one that clients know.
    known: Vec<(SocketAddr, SocketAddr)>,
}

impl MediaPeers {
    /// Creates peers with these local addresses; clients know them by the public address
    /// of the same family, if there is one (1:1 NAT).
    pub(crate) fn new(local: &[SocketAddr], public: &[IpAddr]) -> MediaPeers {
        let known = local.iter().map(|&local| {
            let mut public = public.iter();
            let public = public.find(|ip| ip.is_ipv4() == local.is_ipv4());
            let known = public.map_or(local, |ip| SocketAddr::new(*ip, local.port()));
            (local, known)
        });
        MediaPeers {
            known: known.collect(),
        }
    }

    /// Local address of the peer that a client knows by this address.
    pub(super) fn local(&self, known: SocketAddr) -> Option<SocketAddr> {
        let found = self.known.iter().find(|(_, each)| *each == known);
        found.map(|(local, _)| *local)
    }

    /// Address by which clients know the peer with this local address.
    pub(super) fn known(&self, local: SocketAddr) -> Option<SocketAddr> {
        let found = self.known.iter().find(|(each, _)| *each == local);
        found.map(|(_, known)| *known)
    }

    /// Whether a peer has this address, on any port.
    pub(super) fn has(&self, ip: IpAddr) -> bool {
        self.known.iter().any(|(_, known)| known.ip() == ip)
    }

    /// Local address for relaying to peers of one family.
    pub(super) fn relay(&self, is_ipv4: bool) -> Option<IpAddr> {
        let mut local = self.known.iter().map(|(local, _)| local.ip());
        local.find(|ip| ip.is_ipv4() == is_ipv4)
    }
}
