use std::net::{IpAddr, SocketAddr};
use std::time::Instant as StdInstant;

use weft_ice::{Checks, Credentials, IceRole, LocalAddress};
use weft_secure::{Certificate, Config as AssociationConfig, Keying};
use weft_units::{Codec, MediaKind, Rng, Ssrc};

/// Parts of a peer that stand before anything is negotiated.
#[derive(Clone, Debug)]
pub struct PeerConfig {
    /// Role, credentials, certificate of the association.
    pub association: AssociationConfig,
    /// The session's settings; extensions are filled in by negotiation.
    pub session: weft_session::Config,
    /// Addresses to offer and to make paths from.
    pub locals: Vec<LocalAddress>,
    /// Addresses to offer in place of those of the same family: where a router
    /// translates each of these to one of ours, port by port (1:1 NAT).
    /// Default none.
    pub public: Vec<IpAddr>,
    /// Addresses to offer for TCP connections, which only the peer opens (RFC 6544,
    /// passive). `locals` has an address of this transport for each address family.
    /// Default none.
    pub tcp: Vec<SocketAddr>,
    /// Codecs that may be agreed on. An offer lists them in this order, which
    /// is the order of preference; an answer takes the first of the offer's
    /// that is one of them. Default: those that weft encodes and decodes.
    pub codecs: Vec<Codec>,
    /// Whether data channels are offered, and accepted where the other side offers them
    /// beside media. Default false.
    pub data_channels: bool,
    /// Seed of everything random in the session.
    pub rng: Rng,
}

/// Where the run's time begins on other clocks.
#[derive(Clone, Copy, Debug)]
pub struct TimeOrigin {
    /// For libraries that count in `std::time`.
    pub std: StdInstant,
    /// NTP time (32.32 bits).
    pub ntp: u64,
}

/// Random values of a peer, fresh for each. The first two are
/// secrets: from the system's secure generator where the network is real.
#[derive(Clone, Debug)]
pub struct Entropy {
    /// Random octets of ICE's user name and password.
    pub credentials: [u8; 32],
    /// Tie breaker of ICE's roles.
    pub tie_breaker: u64,
    /// Seed of everything that is not secret.
    pub seed: u64,
    /// Source of the keys.
    pub keying: Keying,
}

impl Entropy {
    /// Draws from a generator that others may know, so that the peer's handshakes
    /// repeat too: where time is virtual and nothing is secret.
    #[must_use]
    pub fn repeating(mut rng: Rng) -> Entropy {
        let mut credentials = [0; 32];
        rng.fill(&mut credentials);
        Entropy {
            credentials,
            tie_breaker: rng.next_u64(),
            seed: rng.next_u64(),
            keying: Keying::Dtls {
                seed: Some(rng.next_u64()),
            },
        }
    }

    /// Draws for a peer of a simulated network, which has no handshake
    /// ([`Keying::Plain`]).
    #[cfg(feature = "simulation")]
    #[must_use]
    pub fn simulated(rng: Rng) -> Entropy {
        Entropy {
            keying: Keying::Plain,
            ..Entropy::repeating(rng)
        }
    }
}

impl TimeOrigin {
    /// Origin for peers without a handshake, which never look at the system's clock.
    #[cfg(feature = "simulation")]
    #[expect(
        clippy::disallowed_methods,
        reason = "`std::time` has no other way to make a value; none is compared with the clock"
    )]
    #[must_use]
    pub fn simulated() -> TimeOrigin {
        TimeOrigin {
            std: StdInstant::now(),
            ntp: 0,
        }
    }
}

impl PeerConfig {
    /// A peer with the session's defaults for a video call.
    #[must_use]
    pub fn new(
        role: IceRole,
        origin: TimeOrigin,
        certificate: Certificate,
        locals: Vec<LocalAddress>,
        entropy: &Entropy,
    ) -> PeerConfig {
        let rng = Rng::new(entropy.seed);
        let feedback_ssrc = Ssrc(rng.stream("feedback").next_u32() | 1);
        let mut session = weft_session::Config::new(Default::default(), feedback_ssrc);
        session.ntp_at_zero = origin.ntp;
        PeerConfig {
            association: AssociationConfig {
                ice: weft_ice::Config {
                    role,
                    credentials: Credentials::from_entropy(&entropy.credentials),
                    tie_breaker: entropy.tie_breaker,
                    checks: Checks::All,
                    rng: rng.stream("association"),
                },
                certificate,
                epoch: origin.std,
                keying: entropy.keying,
            },
            session,
            locals,
            public: Vec::new(),
            tcp: Vec::new(),
            codecs: Codec::CODED.to_vec(),
            data_channels: false,
            rng,
        }
    }

    /// Leaves one codec for pictures, or none.
    pub fn limit_video_to(&mut self, codec: Option<Codec>) {
        let stays = |c: &Codec| c.kind() != MediaKind::Video || Some(*c) == codec;
        self.codecs.retain(stays);
    }
}
