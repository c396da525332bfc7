use crate::counters::{Counters, DropReason};
use crate::dtls::{Certificate, DtlsRole, Fingerprint};
use crate::ice::{Credentials, DownReason, IceRole, LinkId, LocalAddress, Path, RemoteCandidate};
use crate::srtp::{Profile, ProtectError};
use std::net::SocketAddr;
use weft_units::{Deadline, Duration, Instant, PathId, Rng};

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
    /// What [`Instant::ZERO`] is on the system's clock, for the DTLS library.
    /// Any value will do as long as it does not change.
    pub epoch: std::time::Instant,
    /// Draws transaction ids.
    pub rng: Rng,
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
    /// A path became valid, for the first time or again.
    PathUp {
        /// Its number.
        path: PathId,
        /// The link of our address.
        link: LinkId,
        /// Our address.
        local: SocketAddr,
        /// The peer's address.
        remote: SocketAddr,
        /// Smoothed round-trip time.
        rtt: Duration,
    },
    /// A path that was up is not any more.
    PathDown {
        /// Its number.
        path: PathId,
        /// How that was found.
        reason: DownReason,
    },
    /// The handshake is done and the peer is who its fingerprint says.
    Connected {
        /// What protects the media.
        profile: Profile,
    },
    /// The association is unusable for good.
    Failed {
        /// Why.
        reason: FailReason,
    },
    /// The selected pair changed, by us or by the peer.
    Selected {
        /// The new one.
        path: PathId,
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

/// One ICE session with many valid pairs, one DTLS association, one SRTP
/// context per direction.
///
/// Order of calls: any input, then [`Association::poll_output`] until `None`,
/// then [`Association::poll_timeout`]. Time never goes back between calls. A
/// call of [`Association::handle_timeout`] before the deadline does nothing.
pub struct Association {
    credentials: Credentials,
    fingerprint: Fingerprint,
    counters: Counters,
}

#[allow(unused_variables)]
impl Association {
    /// An association without addresses and without a peer.
    #[must_use]
    pub fn new(now: Instant, config: Config) -> Association {
        Association {
            fingerprint: config.certificate.fingerprint(),
            credentials: config.credentials,
            counters: Counters::default(),
        }
    }

    /// Our fingerprint, for our session description.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Our credentials, for our session description.
    #[must_use]
    pub fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Tells who the peer is. Checks start, and the ones that came too early
    /// are answered. A second call is ignored.
    pub fn set_remote(&mut self, now: Instant, remote: Remote) {}

    /// Adds a local address; paths to the known remote addresses are tried.
    /// An address that is there already only changes its cost and filter.
    pub fn add_local(&mut self, now: Instant, local: LocalAddress) {}

    /// Removes a local address with its paths.
    pub fn remove_local(&mut self, now: Instant, addr: SocketAddr) {}

    /// Adds a remote address that arrived after the description.
    pub fn add_remote_candidate(&mut self, now: Instant, candidate: RemoteCandidate) {}

    /// Takes a datagram that arrived on the socket of `local` from `remote`.
    pub fn handle_datagram<'a>(
        &'a mut self,
        now: Instant,
        local: SocketAddr,
        remote: SocketAddr,
        datagram: &'a [u8],
    ) -> Received<'a> {
        Received::Dropped(DropReason::Unrecognised)
    }

    /// Encrypts an RTP packet in place and appends the tag. Each (SSRC,
    /// sequence number) once: a copy on another path is the same bytes.
    ///
    /// # Errors
    /// See [`ProtectError`]; the packet is untouched then.
    pub fn protect_rtp(&mut self, packet: &mut Vec<u8>) -> Result<(), ProtectError> {
        Err(ProtectError::NotConnected)
    }

    /// Encrypts a compound RTCP packet in place and appends index and tag.
    ///
    /// # Errors
    /// See [`ProtectError`]; the packet is untouched then.
    pub fn protect_rtcp(&mut self, packet: &mut Vec<u8>) -> Result<(), ProtectError> {
        Err(ProtectError::NotConnected)
    }

    /// A path by its number.
    #[must_use]
    pub fn path(&self, id: PathId) -> Option<&Path> {
        None
    }

    /// Every path that was valid once or heard the peer, in any state.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        std::iter::empty()
    }

    /// The selected path.
    #[must_use]
    pub fn selected(&self) -> Option<PathId> {
        None
    }

    /// Says that a path looks dead. Every valid path is checked at once; what
    /// does not answer while another does goes down. Never the last one.
    pub fn suspect(&mut self, now: Instant, path: PathId) {}

    /// Nominates a path that is up: the peer sends there. Only the
    /// controlling side can; otherwise, and for other paths, nothing happens.
    pub fn select(&mut self, now: Instant, path: PathId) {}

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Instant) {}

    /// When [`Association::handle_timeout`] is wanted.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    /// The next datagram or event.
    pub fn poll_output(&mut self) -> Option<Output> {
        None
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
