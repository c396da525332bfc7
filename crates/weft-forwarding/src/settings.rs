use crate::relay::PlaneId;
use crate::rules::AllocatorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use weft_ice::{Checks, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{Entropy, PeerConfig, TimeOrigin};
use weft_secure::Certificate;
use weft_session::{Ablation, Backlog};
use weft_units::{Codec, Rate, Transport};

/// Assumed rate of an unknown player's link: enough for a sharp picture, since unneeded
/// thinning is visible, and a slower link shows its rate within a few round trips. A
/// newcomer to a room plays all its publications at the same time over one link, so their
/// connections share this rate. Chosen by us.
const START_RATE: Rate = Rate::from_kbps(2_500);
/// Minimum assumed rate for one connection. Chosen by us: sound and a small picture.
const LEAST_START_RATE: Rate = Rate::from_kbps(300);
/// Maximum rate of one path. Chosen by us: four cameras at the 10 Mbps that are the
/// maximum of one, and a quarter for repair.
const MAX_PATH_RATE: Rate = Rate::from_mbps(50);

/// Default bound on a publisher's incoming rate, all paths together. Chosen by us: the
/// maximum rate of one path, and as much again for copies on others.
const MOST_OF_A_PUBLISHER: Rate = Rate::from_mbps(100);

/// Bound on a player's incoming rate, which is feedback and checks. Chosen by us: four
/// times the reports of eight paths, each sent twice.
const MOST_OF_A_PLAYER: Rate = Rate::from_mbps(8);

/// Settings that all peers of a plane share.
pub struct Settings {
    origin: TimeOrigin,
    certificate: Certificate,
    locals: Vec<LocalAddress>,
    public: Vec<IpAddr>,
    tcp: Vec<SocketAddr>,
    most_of_a_publisher: Rate,
    egress: Option<Rate>,
    /// Number of this plane, if the server has several.
    plane: Option<PlaneId>,
    /// Whether the cost of a peer is bounded.
    bounded: bool,
    /// Whether packets without protection are reported.
    captures: bool,
    allocator: AllocatorKind,
}

impl Settings {
    /// Creates settings for a plane that is reachable at these addresses.
    #[must_use]
    pub fn new(origin: TimeOrigin, certificate: Certificate, addresses: &[SocketAddr]) -> Settings {
        Settings {
            origin,
            certificate,
            locals: locals_at(Transport::Udp, addresses),
            public: Vec::new(),
            tcp: Vec::new(),
            most_of_a_publisher: MOST_OF_A_PUBLISHER,
            egress: None,
            plane: None,
            bounded: true,
            captures: false,
            allocator: AllocatorKind::default(),
        }
    }

    /// Reports every packet of RTP and RTCP without protection
    /// ([`Output::Captured`](crate::Output::Captured)). Default none.
    #[must_use]
    pub fn capturing(self, captures: bool) -> Settings {
        Settings { captures, ..self }
    }

    /// Chooses the layers of each player by these rules. Default the product's own; others
    /// are for comparisons.
    #[must_use]
    pub fn allocating(self, allocator: AllocatorKind) -> Settings {
        Settings { allocator, ..self }
    }

    pub(crate) fn allocator(&self) -> AllocatorKind {
        self.allocator
    }

    pub(crate) fn captures(&self) -> bool {
        self.captures
    }

    /// Bounds the incoming rate of each publisher, all paths together, including repair
    /// packets. Datagrams beyond the rate and a burst of one second are dropped unread. A
    /// sender's congestion control sees that as a link of that rate. Default 100 Mbit/s.
    #[must_use]
    pub fn taking(self, most_of_a_publisher: Rate) -> Settings {
        Settings {
            most_of_a_publisher,
            ..self
        }
    }

    /// Bounds the sending rate to all players together. Players share it: each gets the
    /// same, except those that need less. Default none, because the rate of the server's
    /// link is not known.
    #[must_use]
    pub fn sending(self, egress: Option<Rate>) -> Settings {
        Settings { egress, ..self }
    }

    /// Makes the plane one of several of a server, which share their addresses: the ICE
    /// user names of its peers identify it. Default: the only one.
    #[must_use]
    pub fn of_plane(self, plane: PlaneId) -> Settings {
        let plane = Some(plane);
        Settings { plane, ..self }
    }

    /// Offers these addresses instead of our own of the same family: a router translates
    /// them, port by port (1:1 NAT).
    #[must_use]
    pub fn announcing(self, public: &[IpAddr]) -> Settings {
        let public = public.to_vec();
        Settings { public, ..self }
    }

    /// Makes peers accept TCP connections (RFC 6544), and offers these addresses for
    /// them: our own, or those that a router translates to them. Default none.
    #[must_use]
    pub fn accepting_tcp_at(mut self, addresses: &[SocketAddr]) -> Settings {
        self.tcp = addresses.to_vec();
        if !addresses.is_empty() {
            // Addresses that all connections of a family belong to.
            let both: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
            let both = both.map(|ip| SocketAddr::new(ip, 0));
            self.locals.extend(locals_at(Transport::Tcp, &both));
        }
        self
    }

    /// Removes those bounds on the cost of a peer that can be removed, for experiments
    /// that measure their effect.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn without_budgets(self) -> Settings {
        Settings {
            bounded: false,
            ..self
        }
    }

    /// Bound on the sending rate to all players together, if any.
    pub(crate) fn egress(&self) -> Option<Rate> {
        self.egress
    }

    /// Bound on a publisher's incoming rate, if any.
    pub(crate) fn most_of_a_publisher(&self) -> Option<Rate> {
        self.bounded.then_some(self.most_of_a_publisher)
    }

    /// Bound on a player's incoming rate, if any.
    pub(crate) fn most_of_a_player(&self) -> Option<Rate> {
        self.bounded.then_some(MOST_OF_A_PLAYER)
    }

    /// Pairs to check. A client may be a stranger, and its candidates may belong to others.
    pub(crate) fn checks(&self) -> Checks {
        match self.bounded {
            true => Checks::Answering,
            false => Checks::All,
        }
    }

    /// Returns the configuration of a new peer with its own secrets. `publications` is
    /// the number in its room.
    pub(crate) fn peer(
        &self,
        role: IceRole,
        max_rate: Rate,
        publications: usize,
        entropy: &Entropy,
    ) -> PeerConfig {
        let (certificate, locals) = (self.certificate.clone(), self.locals.clone());
        let mut config = PeerConfig::new(role, self.origin, certificate, locals, entropy);
        if let Some(plane) = self.plane {
            let credentials = &mut config.association.ice.credentials;
            credentials.ufrag.insert(0, plane.name());
        }
        config.association.ice.checks = self.checks();
        if !self.bounded {
            config.session.ablations = Ablation::Budgets.into();
        }
        let start = Rate::from_bps(START_RATE.as_bps() / publications.max(1) as u64);
        config.session.path_limits.start = start.max(LEAST_START_RATE);
        config.session.path_limits.max = MAX_PATH_RATE;
        config.session.backlog = Backlog::Waits { known: Rate::ZERO };
        config.session.max_rate = max_rate;
        config.public.clone_from(&self.public);
        config.codecs = Codec::ALL.to_vec();
        config.tcp.clone_from(&self.tcp);
        config
    }
}

/// Returns local addresses of peers, all on one link: the bottleneck is the peer's link, and a
/// second path over it to another address of ours would be a second congestion controller.
pub(crate) fn locals_at(transport: Transport, addresses: &[SocketAddr]) -> Vec<LocalAddress> {
    let local = |addr: &SocketAddr| LocalAddress {
        transport,
        addr: *addr,
        link: LinkId(0),
        cost: 0,
        remotes: RemoteFilter::Any,
    };
    addresses.iter().map(local).collect()
}
