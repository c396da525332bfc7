use std::net::{IpAddr, SocketAddr};
use weft_units::{Duration, FiveTuple, PathId, Rng, Transport};

/// libwebrtc, rtc_base/network_constants.h, kNetworkCostMax.
pub(crate) const MAX_COST: u16 = 999;

/// Configuration of an agent.
#[derive(Clone, Debug)]
pub struct Config {
    /// Our role. The offerer is controlling.
    pub role: IceRole,
    /// Our credentials, as in our session description.
    pub credentials: Credentials,
    /// Decides a role conflict; random, the higher one wins (RFC 8445 section
    /// 16.1).
    pub tie_breaker: u64,
    /// Pairs to check.
    pub checks: Checks,
    /// Source of transaction ids.
    pub rng: Rng,
}

/// Pairs to check. A description contains addresses that may not be the peer's:
/// packets sent there could hit others.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Checks {
    /// All pairs of our addresses with the peer's candidates, paced, and with a
    /// budget for those that do not answer.
    #[default]
    All,
    /// Only pairs on which the peer sent a check with our password, with a few
    /// checks for each. For agents that everybody can reach and that serve
    /// strangers, such as servers; ignores the peer's candidates.
    Answering,
}

/// Role in the selection of a pair (RFC 8445 section 6.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IceRole {
    /// We nominate. The offerer is controlling.
    Controlling,
    /// The peer nominates.
    Controlled,
}

/// User name fragment and password of an ICE session (RFC 8445 section 5.3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credentials {
    /// User name fragment, `a=ice-ufrag`.
    pub ufrag: String,
    /// Password, `a=ice-pwd`.
    pub pwd: String,
}

impl Credentials {
    /// Credentials from these random bytes, 6 bits per character: 48 bits of
    /// fragment, 144 bits of password (RFC 8445 section 5.3 requires at least
    /// 24 and 128). In production the bytes come from the system's secure
    /// generator, in a simulation from the seed.
    #[must_use]
    pub fn from_entropy(bytes: &[u8; 32]) -> Credentials {
        // ice-char = ALPHA / DIGIT / "+" / "/" (RFC 8839 section 5.4).
        const CHARS: &[u8; 64] =
            b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let text: String = bytes
            .iter()
            .map(|b| char::from(CHARS[usize::from(b & 63)]))
            .collect();
        Credentials {
            ufrag: text[..8].to_owned(),
            pwd: text[8..].to_owned(),
        }
    }
}

/// Link of this machine (WiFi, LTE, ...), numbered by the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u8);

/// Local address with its socket, or of the TCP connections that peers open.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalAddress {
    /// Transport protocol. A pair over TCP is up only while no pair over UDP is, because
    /// lost packets of a TCP connection delay all later ones.
    pub transport: Transport,
    /// Address and port of the socket; for TCP, every connection of this address family
    /// belongs to it, whatever its address and port.
    pub addr: SocketAddr,
    /// Link of the socket.
    pub link: LinkId,
    /// Cost of the link, 0..=999 as in libwebrtc's network cost; cheaper paths
    /// are selected first.
    pub cost: u16,
    /// Remote addresses to pair with.
    pub remotes: RemoteFilter,
}

impl LocalAddress {
    /// Whether datagrams between these addresses belong to this local address.
    pub(crate) fn has(&self, tuple: FiveTuple) -> bool {
        self.covers(tuple.transport, tuple.local)
    }

    /// Whether the other one replaces it.
    pub(crate) fn is_same(&self, other: &LocalAddress) -> bool {
        self.covers(other.transport, other.addr)
    }

    fn covers(&self, transport: Transport, addr: SocketAddr) -> bool {
        let is_its = match self.transport {
            Transport::Udp => self.addr == addr,
            Transport::Tcp => self.addr.is_ipv4() == addr.is_ipv4(),
        };
        is_its && self.transport == transport
    }
}

/// Remote addresses that a local address pairs with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RemoteFilter {
    /// All addresses of the same family.
    Any,
    /// Only these; an empty list pairs with nothing.
    Only(Vec<SocketAddr>),
}

impl RemoteFilter {
    pub(crate) fn allows(&self, remote: SocketAddr) -> bool {
        match self {
            RemoteFilter::Any => true,
            RemoteFilter::Only(list) => list.contains(&remote),
        }
    }
}

/// Remote address from the peer's session description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemoteCandidate {
    /// Address and port.
    pub addr: SocketAddr,
    /// Candidate priority (RFC 8445 section 5.1.2).
    pub priority: u32,
}

/// State of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathState {
    /// No check of ours has been answered yet.
    Probing,
    /// Valid: checks are answered, and media may use the path.
    Up,
    /// Valid but unused: another pair between the same two networks is up.
    Spare,
    /// It was up and stopped answering; checked until it recovers.
    Down,
}

impl PathState {
    /// Whether its checks are answered, used or not.
    #[must_use]
    pub fn is_valid(self) -> bool {
        matches!(self, PathState::Up | PathState::Spare)
    }
}

/// Reason why a path went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DownReason {
    /// Its checks stayed unanswered while another path's were answered.
    Unanswered,
    /// No path answered until consent expired (RFC 7675).
    Expired,
    /// Its pair was removed; the path does not return.
    Removed,
    /// It connects the same two networks as another path.
    Spare,
}

/// Candidate pair with an identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// Number, unique within the agent.
    pub id: PathId,
    /// Transport protocol and addresses.
    pub tuple: FiveTuple,
    /// Link of our address.
    pub link: LinkId,
    /// State of the path.
    pub state: PathState,
    /// Smoothed round-trip time of the checks; `None` before the first answer.
    pub rtt: Option<Duration>,
}

/// Addresses of a pair, and whether its checks are answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// Transport protocol and addresses.
    pub tuple: FiveTuple,
    /// Whether its checks are answered, which proves that the host there has
    /// the peer's password.
    pub is_valid: bool,
}

/// Whether an answer can reach this address: a single host, with a port. For
/// others the system returns errors that look like faults of the socket, or
/// sends to many hosts.
pub(crate) fn is_answerable(remote: SocketAddr) -> bool {
    let one_host = match remote.ip() {
        IpAddr::V4(ip) => !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast(),
        // An IPv4 address in IPv6 form; our IPv6 sockets send only IPv6.
        IpAddr::V6(ip) => {
            !ip.is_unspecified() && !ip.is_multicast() && ip.to_ipv4_mapped().is_none()
        }
    };
    one_host && remote.port() != 0
}

/// Whether a pair of these two addresses can work: the same family, and both
/// link-local or neither (RFC 8445 section 6.1.2.2).
pub(crate) fn can_pair(local: SocketAddr, remote: SocketAddr) -> bool {
    match (local.ip(), remote.ip()) {
        (IpAddr::V4(_), IpAddr::V4(_)) => true,
        (IpAddr::V6(l), IpAddr::V6(r)) => l.is_unicast_link_local() == r.is_unicast_link_local(),
        _ => false,
    }
}
