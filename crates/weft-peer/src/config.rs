use std::net::{IpAddr, SocketAddr};
use std::time::Instant as StdInstant;

use weft_ice::{Checks, Credentials, IceRole, LocalAddress};
use weft_secure::{Certificate, Config as AssociationConfig, Keying};
use weft_units::{Codec, MediaKind, Rng, Ssrc};

/// Settings of a peer that negotiation does not change.
#[derive(Clone, Debug)]
pub struct PeerConfig {
    /// Role, credentials and certificate of the association.
    pub association: AssociationConfig,
    /// The session's settings; extensions are filled in by negotiation.
    pub session: weft_session::Config,
    /// Local addresses to offer and to make paths from.
    pub locals: Vec<LocalAddress>,
    /// Addresses to offer instead of the local ones of the same family, if a router
    /// translates each of these to one of ours, port by port (1:1 NAT). Default none.
    pub public: Vec<IpAddr>,
    /// Local addresses to offer for TCP connections, which only the peer opens (RFC 6544,
    /// passive). `locals` has an address of this transport for each address family. Default none.
    pub tcp: Vec<SocketAddr>,
    /// Codecs that may be negotiated, in order of preference. An offer lists them in this
    /// order; an answer chooses the first one in the offer that is among them. Default:
    /// those that weft encodes and decodes.
    pub codecs: Vec<Codec>,
    /// Whether to offer data channels, and to accept them if the other side offers them
    /// together with media. Default false.
    pub data_channels: bool,
    /// Source of all random values in the session.
    pub rng: Rng,
}

/// Start of the run's time on other clocks.
#[derive(Clone, Copy, Debug)]
pub struct TimeOrigin {
    /// For libraries that use `std::time`.
    pub std: StdInstant,
    /// NTP time (32.32 bits).
    pub ntp: u64,
}

/// Random values of a peer, fresh for each. The first two are secrets: in a real network,
/// draw them from the system's secure generator.
#[derive(Clone, Debug)]
pub struct Entropy {
    /// Random octets of ICE's user name and password.
    pub credentials: [u8; 32],
    /// Tie breaker of ICE's roles.
    pub tie_breaker: u64,
    /// Seed for all values that are not secret.
    pub seed: u64,
    /// Source of the keys.
    pub keying: Keying,
}

impl Entropy {
    /// Draws all values from a generator that others may know, so that the peer's
    /// handshakes are reproducible, too. For virtual time, where nothing is secret.
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
    /// Origin for peers without a handshake, which never read the system's clock.
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
    /// Creates a peer with the session's defaults for a video call.
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

    /// Restricts video to one codec, or to none.
    pub fn limit_video_to(&mut self, codec: Option<Codec>) {
        let stays = |c: &Codec| c.kind() != MediaKind::Video || Some(*c) == codec;
        self.codecs.retain(stays);
    }
}
