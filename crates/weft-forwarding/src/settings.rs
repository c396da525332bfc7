use crate::relay::PlaneId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use weft_ice::{Checks, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{Entropy, PeerConfig, TimeOrigin};
use weft_secure::Certificate;
use weft_session::{Ablation, Backlog};
use weft_units::{Codec, Rate, Transport};

/// Assumed rate of a player's link when nothing is known of it: a sharp
/// picture whole, since thinning it out on a guess shows, and a link that is
/// slower says so within a few round trips. A newcomer to a room plays all
/// that is published there at the same time, over one link, so their connections
/// share it. Chosen by us.
const START_RATE: Rate = Rate::from_kbps(2_500);
/// Least of it for one connection. Chosen by us: sound and a small picture.
const LEAST_START_RATE: Rate = Rate::from_kbps(300);
/// Most that one path carries. Chosen by us: four cameras at the 10 Mbps that
/// are the most of one, and a quarter for repair.
const MAX_PATH_RATE: Rate = Rate::from_mbps(50);

/// Most that is taken of a publisher, all paths together, unless told otherwise.
/// Chosen by us: what one path carries at most, and as much again for copies on
/// others.
const MOST_OF_A_PUBLISHER: Rate = Rate::from_mbps(100);

/// Most that is taken of a player, who sends feedback and checks. Chosen by us:
/// four times what reports of eight paths take, each sent twice.
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
    /// Plane of a server that has several.
    plane: Option<PlaneId>,
    /// Whether what a peer can cost is bounded.
    bounded: bool,
    /// Whether packets without protection are reported.
    captures: bool,
}

impl Settings {
    /// Settings for a plane that these addresses lead to.
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
        }
    }

    /// Reports every packet of RTP and RTCP without protection
    /// ([`Output::Captured`](crate::Output::Captured)). Default none.
    #[must_use]
    pub fn capturing(self, captures: bool) -> Settings {
        Settings { captures, ..self }
    }

    pub(crate) fn captures(&self) -> bool {
        self.captures
    }

    /// Bounds the rate that is taken of each publisher, all paths together
    /// and repair included; a second's worth in a row, and the rest is lost
    /// before it costs anything. A sender's congestion control sees that as a
    /// link of that rate. Default 100 Mbit/s.
    #[must_use]
    pub fn taking(self, most_of_a_publisher: Rate) -> Settings {
        Settings {
            most_of_a_publisher,
            ..self
        }
    }

    /// Most that all players together are sent. Players share
    /// it: each gets the same, but for those that need less. Default none: what
    /// the server's link carries is not known.
    #[must_use]
    pub fn sending(self, egress: Option<Rate>) -> Settings {
        Settings { egress, ..self }
    }

    /// Makes the plane one of several of a server, which share their addresses: the ICE
    /// user names of its peers lead to it. Default: the only one.
    #[must_use]
    pub fn of_plane(self, plane: PlaneId) -> Settings {
        let plane = Some(plane);
        Settings { plane, ..self }
    }

    /// Tells peers these addresses in place of our own of the
    /// same family: a router translates them, port by port (1:1 NAT).
    #[must_use]
    pub fn announcing(self, public: &[IpAddr]) -> Settings {
        let public = public.to_vec();
        Settings { public, ..self }
    }

    /// Makes peers accept TCP connections (RFC 6544), and offers them these addresses for
    /// that: of our own, or those that stand for them. Default none.
    #[must_use]
    pub fn accepting_tcp_at(mut self, addresses: &[SocketAddr]) -> Settings {
        self.tcp = addresses.to_vec();
        if !addresses.is_empty() {
            // Those that all connections of a family belong to.
            let both: [IpAddr; 2] = [Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()];
            let both = both.map(|ip| SocketAddr::new(ip, 0));
            self.locals.extend(locals_at(Transport::Tcp, &both));
        }
        self
    }

    /// Removes the bounds on the cost of a peer that can be removed: for
    /// experiments that measure their effect.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn without_budgets(self) -> Settings {
        Settings {
            bounded: false,
            ..self
        }
    }

    /// Most that is sent to all players together, if that is bounded.
    pub(crate) fn egress(&self) -> Option<Rate> {
        self.egress
    }

    /// Most that is taken of a publisher, if that is bounded.
    pub(crate) fn most_of_a_publisher(&self) -> Option<Rate> {
        self.bounded.then_some(self.most_of_a_publisher)
    }

    /// Most that is taken of a player, if that is bounded.
    pub(crate) fn most_of_a_player(&self) -> Option<Rate> {
        self.bounded.then_some(MOST_OF_A_PLAYER)
    }

    /// Addresses that a peer is checked at. One who asks for a connection may be a
    /// stranger, and its candidates somebody else's.
    pub(crate) fn checks(&self) -> Checks {
        match self.bounded {
            true => Checks::Answering,
            false => Checks::All,
        }
    }

    /// The makings of a new peer, with secrets of its own.
    /// `publications` are those of its room.
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

/// Returns local addresses of peers. One link: what is short is the peer's, and a second
/// way over that to another address of ours would be a second congestion controller.
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
