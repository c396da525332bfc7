#[cfg(test)]
mod tests;
mod types;

pub use types::{Config, Event, Output, Received, Remote};

use crate::certificate::Fingerprint;
use crate::counters::{Counters, DropReason};
use crate::dtls::{Handshake, Wanted};
use crate::failure::FailReason;
use crate::flights::Flights;
use crate::srtp::{ProtectError, Srtp, Unprotected};
use std::net::SocketAddr;
use weft_ice::{
    Agent, Credentials, IceRole, LocalAddress, Outbox, Path, Phase, RemoteCandidate, Route,
};
use weft_units::{Deadline, Duration, FiveTuple, Instant, PathId};

/// One ICE session with many valid pairs, one DTLS association, one SRTP
/// context per direction.
///
/// Order of calls: any input, then [`Association::poll_output`] until `None`,
/// then [`Association::poll_timeout`]. Time never goes back between calls. A
/// call of [`Association::handle_timeout`] before the deadline does nothing.
pub struct Association {
    ice: Agent,
    dtls: Handshake,
    flights: Flights,
    srtp: Option<Box<Srtp>>,
    out: Outbox<Event, Counters>,
    fingerprint: Fingerprint,
    deadline: Option<Deadline>,
}

/// The protocol of a datagram by its first byte (RFC 7983 section 7) and, for
/// RTP and RTCP on one port, its second (RFC 5761 section 4).
enum Protocol {
    Stun,
    Dtls,
    Rtp,
    Rtcp,
}

impl Association {
    /// An association without addresses and without a peer.
    #[must_use]
    pub fn new(now: Instant, config: Config) -> Association {
        Association {
            fingerprint: config.certificate.fingerprint(),
            dtls: Handshake::new(now, config.epoch, config.certificate, config.keying),
            ice: Agent::new(weft_ice::Config {
                rng: config.ice.rng.stream("ice"),
                ..config.ice
            }),
            flights: Flights::default(),
            srtp: None,
            out: Outbox::default(),
            deadline: None,
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
        self.ice.credentials()
    }

    /// Tells who the peer is. Checks start, and the ones that came too early
    /// are answered. Only the first call counts.
    pub fn set_remote(&mut self, now: Instant, remote: Remote) {
        if self.dtls.is_started() {
            return;
        }
        self.dtls.start(now, remote.dtls, remote.fingerprint);
        self.ice
            .set_remote(now, &remote.credentials, &remote.candidates);
        self.settle(now);
    }

    /// Restarts ICE with new credentials of both sides, and the peer's addresses.
    /// Keys and valid paths stay. Before [`Association::set_remote`] nothing
    /// happens.
    pub fn restart(
        &mut self,
        now: Instant,
        ours: Credentials,
        theirs: &Credentials,
        candidates: &[RemoteCandidate],
    ) {
        self.ice.restart(now, ours, theirs, candidates);
        self.settle(now);
    }

    /// The peer's credentials, once they are known.
    #[must_use]
    pub fn remote_credentials(&self) -> Option<&Credentials> {
        self.ice.remote_credentials()
    }

    /// Adds a local address; paths to the known remote addresses are tried.
    /// An address that is there already changes its link, cost and filter.
    pub fn add_local(&mut self, now: Instant, local: LocalAddress) {
        self.ice.add_local(now, local);
        self.settle(now);
    }

    /// Moves the selection to a new local address on the selected path's link, for
    /// a peer that ignores a second nomination ([`Agent::move_selection`]).
    pub fn move_selection(&mut self, now: Instant, local: LocalAddress) {
        self.ice.move_selection(now, local);
        self.settle(now);
    }

    /// Whether this side nominates the path that the peer sends on.
    #[must_use]
    pub fn role(&self) -> IceRole {
        self.ice.role()
    }

    /// Removes a local address with its paths.
    pub fn remove_local(&mut self, now: Instant, addr: SocketAddr) {
        self.ice.remove_local(now, addr);
        self.settle(now);
    }

    /// Adds a remote address that came after the description, or before it.
    pub fn add_remote_candidate(&mut self, now: Instant, candidate: RemoteCandidate) {
        self.ice.add_remote(now, candidate);
        self.settle(now);
    }

    /// Takes a datagram that arrived between these addresses.
    pub fn handle_datagram<'a>(
        &'a mut self,
        now: Instant,
        tuple: FiveTuple,
        datagram: &[u8],
    ) -> Received<'a> {
        let Some(protocol) = Protocol::of(datagram) else {
            return self.dropped(DropReason::Unrecognised);
        };
        match protocol {
            Protocol::Stun => {
                let handled = self.ice.handle_datagram(now, tuple, datagram);
                self.settle(now);
                handled.map_or_else(
                    |reason| Received::Dropped(DropReason::Ice(reason)),
                    |()| Received::Handled,
                )
            }
            Protocol::Dtls => self.handle_dtls(now, tuple, datagram),
            Protocol::Rtp | Protocol::Rtcp => self.handle_media(protocol, tuple, datagram),
        }
    }

    /// Encrypts an RTP packet in place and appends the tag. Each (SSRC,
    /// sequence number) once: a copy on another path is the same bytes.
    ///
    /// `rest` is the end of the payload; it is appended to `packet` first.
    ///
    /// # Errors
    /// See [`ProtectError`]; the packet is untouched then.
    pub fn protect_rtp(&mut self, packet: &mut Vec<u8>, rest: &[u8]) -> Result<(), ProtectError> {
        let srtp = self.srtp.as_mut().ok_or(ProtectError::NotConnected)?;
        srtp.protect_rtp(packet, rest)
    }

    /// Encrypts a compound RTCP packet in place and appends index and tag.
    ///
    /// # Errors
    /// See [`ProtectError`]; the packet is untouched then.
    pub fn protect_rtcp(&mut self, packet: &mut Vec<u8>) -> Result<(), ProtectError> {
        let srtp = self.srtp.as_mut().ok_or(ProtectError::NotConnected)?;
        srtp.protect_rtcp(packet)
    }

    /// Sends application data over DTLS, the same record on each of these paths: the peer
    /// takes the first and drops the others as replays. Before the handshake is done
    /// nothing is sent.
    pub fn send_data(&mut self, now: Instant, data: &[u8], paths: &[PathId]) {
        self.settle(now);
        let Some(record) = self.dtls.protect_data(now, data) else {
            return;
        };
        for path in paths.iter().filter_map(|id| self.ice.path(*id)) {
            self.out.transmit(path.tuple, record.clone());
        }
        self.settle(now);
    }

    /// A path by its number.
    #[must_use]
    pub fn path(&self, id: PathId) -> Option<&Path> {
        self.ice.path(id)
    }

    /// Every path that was valid once or brought media, in any state.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.ice.paths()
    }

    /// All pairs, by which what comes is known to be for this association.
    pub fn routes(&self) -> impl Iterator<Item = Route> {
        self.ice.routes()
    }

    /// Changes whenever [`Association::routes`] has more or fewer, or one of
    /// them has become valid.
    #[must_use]
    pub fn routes_revision(&self) -> u64 {
        self.ice.routes_revision()
    }

    /// The selected path; it may be down when all are.
    #[must_use]
    pub fn selected(&self) -> Option<PathId> {
        self.ice.selected()
    }

    /// Says that a path looks dead. Every path that is valid is checked at once;
    /// what does not answer while another does goes down. Never the last one.
    pub fn suspect(&mut self, now: Instant, path: PathId) {
        self.ice.suspect(now, path);
        self.settle(now);
    }

    /// Whether paths are being checked because one looks dead: the time for
    /// [`Association::set_media`].
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        self.ice.is_suspicious()
    }

    /// Tells what media knows of a path: its round trip, in whose queues the
    /// checks stand too, and when feedback last spoke of something new. What
    /// is heard of by media is not taken down.
    pub fn set_media(&mut self, path: PathId, rtt: Duration, heard_at: Option<Instant>) {
        self.ice.set_media(path, rtt, heard_at);
    }

    /// Nominates a path that is up: the peer sends there. Only the
    /// controlling side can; otherwise, and for other paths, nothing happens.
    pub fn select(&mut self, now: Instant, path: PathId) {
        self.ice.select(now, path);
        self.settle(now);
    }

    /// Returns the reason why a handshake that has a path is not finished, as far
    /// as it is known; none before ICE connects, and once DTLS has.
    #[must_use]
    pub fn obstacle(&self) -> Option<FailReason> {
        let has_path = self.ice.routes().any(|route| route.is_valid);
        has_path.then(|| self.dtls.obstacle()).flatten()
    }

    /// Says goodbye to the peer.
    pub fn close(&mut self, now: Instant) {
        self.dtls.close();
        self.settle(now);
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.ice.handle_timeout(now);
        if self.dtls.handle_timeout(now) {
            self.flights.on_timeout();
        }
        self.settle(now);
    }

    /// When [`Association::handle_timeout`] is wanted.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.deadline
    }

    /// The next datagram or event.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop()
    }

    /// Returns the counts so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut counters = self.out.counters.clone();
        counters.ice = self.ice.counters().clone();
        counters
    }

    fn handle_dtls(
        &mut self,
        now: Instant,
        tuple: FiveTuple,
        datagram: &[u8],
    ) -> Received<'static> {
        // An address that answers our checks or sends its own may speak; any other
        // may not even make us spend time on it.
        if !self.ice.is_pair(tuple) {
            return self.dropped(DropReason::UnknownPath);
        }
        self.flights.on_datagram(tuple, datagram);
        if !self.dtls.handle_packet(now, datagram) {
            self.settle(now);
            return self.dropped(DropReason::DtlsRefused);
        }
        self.settle(now);
        Received::Dtls
    }

    fn handle_media<'a>(
        &'a mut self,
        protocol: Protocol,
        tuple: FiveTuple,
        datagram: &[u8],
    ) -> Received<'a> {
        let Some(path) = self.ice.path_of(tuple) else {
            return self.dropped(DropReason::UnknownPath);
        };
        let counters = &mut self.out.counters;
        let received = match (&mut self.srtp, &protocol) {
            (None, _) => Err(DropReason::NoKeys),
            (Some(srtp), Protocol::Rtcp) => srtp.unprotect_rtcp(datagram).map(|packet| {
                counters.rtcp_received += 1;
                Received::Rtcp { path, packet }
            }),
            (Some(srtp), _) => srtp.unprotect_rtp(datagram).map(|rtp| match rtp {
                Unprotected::New(packet) => {
                    counters.rtp_received += 1;
                    Received::Rtp { path, packet }
                }
                Unprotected::Again(packet) => {
                    counters.rtp_again += 1;
                    Received::RtpAgain { path, packet }
                }
            }),
        };
        received.unwrap_or_else(|reason| {
            counters.count_drop(reason);
            Received::Dropped(reason)
        })
    }

    fn dropped(&mut self, reason: DropReason) -> Received<'static> {
        self.out.counters.count_drop(reason);
        Received::Dropped(reason)
    }

    /// Passes on what ICE wants, sends what DTLS has to send, takes its result,
    /// renews the deadline.
    fn settle(&mut self, now: Instant) {
        while let Some(output) = self.ice.poll_output() {
            match output {
                weft_ice::Output::Transmit { tuple, datagram } => {
                    self.out.transmit(tuple, datagram);
                }
                weft_ice::Output::Event(event) => self.out.event(Event::Ice(event)),
            }
        }
        // A flight is several times as long as what asks for it: it goes only
        // where a check was answered.
        if let Some(reason) = self.dtls.poll_failure() {
            self.fail(reason);
        }
        while let Some(wanted) = (self.ice.has_valid_route())
            .then(|| self.dtls.poll(now))
            .flatten()
        {
            match wanted {
                Wanted::Send(datagram) => {
                    if let Some(route) = self.flights.route(&self.ice.valid_routes()) {
                        self.out.transmit(route, datagram);
                    }
                }
                Wanted::Connected(profile, srtp) => {
                    self.srtp = Some(srtp);
                    self.ice.set_phase(Phase::Media);
                    self.out.event(Event::Connected { profile });
                }
                Wanted::Data(data) => self.out.event(Event::Data(data)),
                Wanted::Failed(reason) => self.fail(reason),
            }
        }
        self.deadline = Deadline::earlier(self.ice.poll_timeout(), self.dtls.deadline());
    }

    fn fail(&mut self, reason: FailReason) {
        self.srtp = None;
        self.out.event(Event::Failed { reason });
    }
}

impl Protocol {
    fn of(datagram: &[u8]) -> Option<Protocol> {
        match datagram {
            [0..=3, ..] => Some(Protocol::Stun),
            [20..=63, ..] => Some(Protocol::Dtls),
            [128..=191, 192..=223, ..] => Some(Protocol::Rtcp),
            [128..=191, ..] => Some(Protocol::Rtp),
            _ => None,
        }
    }
}
