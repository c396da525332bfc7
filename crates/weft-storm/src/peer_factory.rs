//! Settings of peers.

use std::net::SocketAddr;

use weft_ice::{IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{Entropy, PeerConfig, TimeOrigin};
use weft_secure::Certificate;
use weft_units::{Rng, Transport};

/// Common parts of the settings of all peers.
#[derive(Clone)]
pub struct PeerFactory {
    pub origin: TimeOrigin,
    pub certificate: Certificate,
    pub rng: Rng,
}

impl PeerFactory {
    /// Returns the settings of a new peer on these addresses, with its own randomness for
    /// the unique `name`.
    pub fn config(&self, name: &str, role: IceRole, ports: &[SocketAddr]) -> PeerConfig {
        let links = (0..).zip(ports);
        let locals = links.map(|(link, addr)| LocalAddress {
            transport: Transport::Udp,
            addr: *addr,
            link: LinkId(link),
            cost: 10 * u16::from(link),
            remotes: RemoteFilter::Any,
        });
        let (certificate, entropy) = (self.certificate.clone(), self.entropy(name));
        PeerConfig::new(role, self.origin, certificate, locals.collect(), &entropy)
    }

    pub fn entropy(&self, name: &str) -> Entropy {
        Entropy::repeating(self.rng.stream(name))
    }
}
