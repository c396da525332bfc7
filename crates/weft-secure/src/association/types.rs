use crate::certificate::{Certificate, Fingerprint};
use crate::counters::DropReason;
use crate::failure::FailReason;
use crate::keying::Keying;
use crate::role::DtlsRole;
use crate::srtp::Profile;
use weft_ice::{Credentials, RemoteCandidate};
use weft_units::PathId;

/// Parts of an association.
#[derive(Clone, Debug)]
pub struct Config {
    /// The agent's: role, credentials of our session description, which pairs
    /// are checked. Its randomness is a stream of the one here.
    pub ice: weft_ice::Config,
    /// Our certificate.
    pub certificate: Certificate,
    /// Time of [`weft_units::Instant::ZERO`] on the system's clock, for the
    /// DTLS library. Any value will do as long as it does not change.
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
    /// Our side in the DTLS handshake.
    pub dtls: DtlsRole,
    /// The peer's addresses; may be empty, may be added to.
    pub candidates: Vec<RemoteCandidate>,
}

/// Fate of a datagram.
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
    /// STUN with the peer's signature; outputs and deadlines may have changed.
    Handled,
    /// DTLS from an address of the peer's: that address may be forged. Outputs
    /// and deadlines may have changed.
    Dtls,
    /// Refused and counted.
    Dropped(DropReason),
}

/// Request or event of the association.
pub type Output = weft_ice::Output<Event>;

/// Something happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// Event of the paths.
    Ice(weft_ice::Event),
    /// The handshake is done and the peer is who its fingerprint says.
    Connected {
        /// Profile that protects the media.
        profile: Profile,
    },
    /// Application data of the peer: a packet of its data channels.
    Data(Vec<u8>),
    /// The association is unusable for good.
    Failed {
        /// Fingerprint, handshake or consent; nothing revives it.
        reason: FailReason,
    },
}
