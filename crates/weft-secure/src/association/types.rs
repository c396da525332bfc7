use crate::certificate::{Certificate, Fingerprint};
use crate::counters::DropReason;
use crate::dtls::DtlsRole;
use crate::srtp::Profile;
use std::net::SocketAddr;
use weft_ice::{Credentials, IceRole, RemoteCandidate};
use weft_units::{PathId, Rng};

/// What an association is made of.
#[derive(Clone, Debug)]
pub struct Config {
    /// Whether we nominate. The offerer is controlling.
    pub role: IceRole,
    /// Our credentials, the ones in our session description.
    pub credentials: Credentials,
    /// Decides who keeps its role when both claim the same one; random, the
    /// higher one wins (RFC 8445 section 16.1).
    pub tie_breaker: u64,
    /// Our certificate.
    pub certificate: Certificate,
    /// What [`weft_units::Instant::ZERO`] is on the system's clock, for the DTLS library.
    /// Any value will do as long as it does not change.
    pub epoch: std::time::Instant,
    /// Draws transaction ids.
    pub rng: Rng,
    /// Seed of what the DTLS library draws besides its keys (random fields,
    /// jitter of timers), for runs that are to repeat byte by byte. None where
    /// the network is real: the library draws from the system then.
    pub handshake_seed: Option<u64>,
}

/// What the peer's session description says.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The peer's credentials.
    pub credentials: Credentials,
    /// The peer's fingerprint.
    pub fingerprint: Fingerprint,
    /// Our side in the DTLS handshake.
    pub dtls: DtlsRole,
    /// The peer's addresses; may be empty, may be added to.
    pub candidates: Vec<RemoteCandidate>,
}

/// What became of a datagram.
#[derive(Debug)]
pub enum Received<'a> {
    /// An authenticated RTP packet, decrypted.
    Rtp {
        /// The path it came on.
        path: PathId,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// An authenticated RTP packet that came before, on this path or another:
    /// a copy, or a replay. It must not be processed again; that it came, and
    /// when, tells of its path.
    RtpAgain {
        /// The path it came on.
        path: PathId,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// An authenticated compound RTCP packet, decrypted.
    Rtcp {
        /// The path it came on.
        path: PathId,
        /// The compound packet.
        packet: &'a [u8],
    },
    /// STUN or DTLS; outputs and deadlines may have changed.
    Handled,
    /// Refused and counted.
    Dropped(DropReason),
}

/// What the association wants done or known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// A datagram to send.
    Transmit {
        /// From this address's socket.
        local: SocketAddr,
        /// To this address.
        remote: SocketAddr,
        /// The bytes.
        datagram: Vec<u8>,
    },
    /// Something happened.
    Event(Event),
}

/// Something happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Of the paths.
    Ice(weft_ice::Event),
    /// The handshake is done and the peer is who its fingerprint says.
    Connected {
        /// What protects the media.
        profile: Profile,
    },
    /// The association is unusable for good.
    Failed {
        /// Fingerprint, handshake or consent; nothing revives it.
        reason: FailReason,
    },
}

/// Why an association failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FailReason {
    /// The peer's certificate is not the one of its fingerprint.
    Fingerprint,
    /// The handshake failed or timed out; the library's words.
    Handshake(String),
    /// No SRTP profile in common.
    Profile,
    /// The peer closed the association.
    Closed,
}
