use crate::certificate::{Certificate, Fingerprint};
use crate::counters::DropReason;
use crate::failure::FailReason;
use crate::keying::Keying;
use crate::role::DtlsRole;
use crate::srtp::Profile;
use weft_ice::{Credentials, RemoteCandidate};
use weft_units::PathId;

/// Configuration of an association.
#[derive(Clone, Debug)]
pub struct Config {
    /// Configuration of the agent: role, credentials of our session description, pairs to
    /// check. Its randomness is a sub-stream of the one here.
    pub ice: weft_ice::Config,
    /// Our certificate.
    pub certificate: Certificate,
    /// Time of [`weft_units::Instant::ZERO`] on the system's clock, for the DTLS library.
    /// Any constant value works.
    pub epoch: std::time::Instant,
    /// Source of the keys.
    pub keying: Keying,
}

/// Values of the peer's session description.
#[derive(Clone, Debug)]
pub struct Remote {
    /// The peer's credentials.
    pub credentials: Credentials,
    /// The peer's fingerprint.
    pub fingerprint: Fingerprint,
    /// Our role in the DTLS handshake.
    pub dtls: DtlsRole,
    /// Addresses of the peer; may be empty, and you can add more later.
    pub candidates: Vec<RemoteCandidate>,
}

/// Result of a received datagram.
#[derive(Debug)]
pub enum Received<'a> {
    /// An authenticated RTP packet, decrypted.
    Rtp {
        /// Path on which it arrived.
        path: PathId,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// An authenticated RTP packet that was received before, on this path or another: a copy or a
    /// replay. Do not process it again; its arrival time still says something about its path.
    RtpAgain {
        /// Path on which it arrived.
        path: PathId,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// An authenticated compound RTCP packet, decrypted.
    Rtcp {
        /// Path on which it arrived.
        path: PathId,
        /// The compound packet.
        packet: &'a [u8],
    },
    /// STUN with the peer's signature; outputs and deadlines may have changed.
    Handled,
    /// DTLS from an address of the peer, which may be forged. Outputs and deadlines may
    /// have changed.
    Dtls,
    /// Refused and counted.
    Dropped(DropReason),
}

/// Request or event of the association.
pub type Output = weft_ice::Output<Event>;

/// Event of an association.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Event of the paths.
    Ice(weft_ice::Event),
    /// The handshake is finished, and the peer's certificate matches its fingerprint.
    Connected {
        /// Profile that protects the media.
        profile: Profile,
    },
    /// Application data from the peer: a packet of its data channels.
    Data(Vec<u8>),
    /// The association is permanently unusable.
    Failed {
        /// Fingerprint, handshake or consent; the association does not recover.
        reason: FailReason,
    },
}
