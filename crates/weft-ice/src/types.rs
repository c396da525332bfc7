use std::net::{IpAddr, SocketAddr};
use weft_units::{Duration, PathId, Rng};

/// libwebrtc, rtc_base/network_constants.h, kNetworkCostMax.
pub(crate) const MAX_COST: u16 = 999;

/// What an agent is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether we nominate. The offerer is controlling.
    pub role: IceRole,
    /// Our credentials, the ones in our session description.
    pub credentials: Credentials,
    /// Decides who keeps its role when both claim the same one; random, the
    /// higher one wins (RFC 8445 section 16.1).
    pub tie_breaker: u64,
    /// Which pairs are checked.
    pub checks: Checks,
    /// Draws transaction ids.
    pub rng: Rng,
}

/// Which pairs are checked. A description names addresses that nobody has
/// proved to be the peer's: what is sent there may hit others.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Checks {
    /// All pairs of our addresses with the peer's candidates, paced, and within
    /// a budget for those that do not answer.
    #[default]
    All,
    /// Those only that a check of the peer has come on, which knew our
    /// password, and a few times for each. For who can be reached by everybody,
    /// as a server, and serves strangers: the peer's candidates are not looked
    /// at.
    Answering,
}

/// Which side decides on the selected pair (RFC 8445 section 6.1.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IceRole {
    /// We nominate. The offerer controls.
    Controlling,
    /// The peer nominates.
    Controlled,
}

/// A user name fragment and a password of one ICE session (RFC 8445 section 5.3).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Credentials {
    /// The user name fragment, `a=ice-ufrag`.
    pub ufrag: String,
    /// The password, `a=ice-pwd`.
    pub pwd: String,
}

impl Credentials {
    /// Credentials made of these random bytes, 6 bits to a character: 48 bits
    /// of fragment, 144 bits of password (RFC 8445 section 5.3 asks for at
    /// least 24 and 128). In production the bytes come from the system's
    /// secure generator, in a simulation from the seed.
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

/// A link of this machine (WiFi, LTE, ...), numbered by the caller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u8);

/// One local address with its socket.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalAddress {
    /// Address and port of the socket.
    pub addr: SocketAddr,
    /// The link that the socket is bound to.
    pub link: LinkId,
    /// How dear the link is, 0..=999 as in libwebrtc's network cost; cheaper
    /// paths are selected first.
    pub cost: u16,
    /// Remote addresses that pairs are made with.
    pub remotes: RemoteFilter,
}

/// Which remote addresses a local address pairs with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RemoteFilter {
    /// All of the same address family.
    Any,
    /// These alone; an empty list pairs with nothing.
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

/// A remote address from the peer's session description.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RemoteCandidate {
    /// Address and port.
    pub addr: SocketAddr,
    /// Candidate priority (RFC 8445 section 5.1.2).
    pub priority: u32,
}

/// The state of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PathState {
    /// No check of ours was answered yet.
    Probing,
    /// Valid: checks are answered, media may leave here.
    Up,
    /// Valid, and not used: another pair between the same two networks is up.
    Spare,
    /// Was up and stopped answering; checked until it comes back.
    Down,
}

impl PathState {
    /// Whether its checks are answered, used or not.
    #[must_use]
    pub fn is_valid(self) -> bool {
        matches!(self, PathState::Up | PathState::Spare)
    }
}

/// Why a path went down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DownReason {
    /// Its checks went unanswered while another path's were answered.
    Unanswered,
    /// Nothing answered on any path until consent ran out (RFC 7675).
    Expired,
    /// Its local address was removed; the path does not come back.
    Removed,
    /// It turned out to lead from network to network as another one does.
    Spare,
}

/// A candidate pair with an identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Path {
    /// Its number, unique within the agent.
    pub id: PathId,
    /// That of our socket.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// The link of our address.
    pub link: LinkId,
    /// Up, down or not known yet.
    pub state: PathState,
    /// Smoothed round-trip time of the checks; `None` before the first answer.
    pub rtt: Option<Duration>,
}

/// The addresses of a pair, and whether its checks were answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Route {
    /// That of our socket.
    pub local: SocketAddr,
    /// The peer's address.
    pub remote: SocketAddr,
    /// Whether its checks are answered: who has the peer's password is there.
    pub is_valid: bool,
}

impl Route {
    /// Our address and the peer's.
    #[must_use]
    pub fn addresses(&self) -> (SocketAddr, SocketAddr) {
        (self.local, self.remote)
    }

    /// Whether both are the same addresses, valid or not.
    #[must_use]
    pub fn is_same(&self, other: &Route) -> bool {
        self.addresses() == other.addresses()
    }
}

/// Whether an answer can reach this address: it is that of one host, with a
/// port. The system refuses others with errors that look like faults of the
/// socket, or sends to many hosts.
pub(crate) fn is_answerable(remote: SocketAddr) -> bool {
    let one_host = match remote.ip() {
        IpAddr::V4(ip) => !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast(),
        // An IPv4 address in IPv6 form: our IPv6 sockets send IPv6 only.
        IpAddr::V6(ip) => {
            !ip.is_unspecified() && !ip.is_multicast() && ip.to_ipv4_mapped().is_none()
        }
    };
    one_host && remote.port() != 0
}

/// Whether a pair of these two addresses can work at all: the same family,
/// and both of link-local scope or neither (RFC 8445 section 6.1.2.2).
pub(crate) fn can_pair(local: SocketAddr, remote: SocketAddr) -> bool {
    match (local.ip(), remote.ip()) {
        (IpAddr::V4(_), IpAddr::V4(_)) => true,
        (IpAddr::V6(l), IpAddr::V6(r)) => l.is_unicast_link_local() == r.is_unicast_link_local(),
        _ => false,
    }
}
