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
/// Order of calls: any input, then [`Association::poll_output`] until `None`, then
/// [`Association::poll_timeout`]. Time must not decrease between calls.
/// [`Association::handle_timeout`] does nothing before the deadline.
pub struct Association {
    ice: Agent,
    dtls: Handshake,
    flights: Flights,
    srtp: Option<Box<Srtp>>,
    out: Outbox<Event, Counters>,
    fingerprint: Fingerprint,
    deadline: Option<Deadline>,
}

/// Protocol of a datagram by its first byte (RFC 7983 section 7) and, for RTP and RTCP on
/// one port, its second (RFC 5761 section 4).
enum Protocol {
    Stun,
    Dtls,
    Rtp,
    Rtcp,
}

impl Association {
    /// Creates an association without addresses and without a peer.
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

    /// Sets the peer. Checks start, and earlier checks of the peer are answered. Only the
    /// first call has an effect.
    pub fn set_remote(&mut self, now: Instant, remote: Remote) {
        if self.dtls.is_started() {
            return;
        }
        self.dtls.start(now, remote.dtls, remote.fingerprint);
        self.ice
            .set_remote(now, &remote.credentials, &remote.candidates);
        self.settle(now);
    }

    /// Restarts ICE with new credentials of both sides and the peer's addresses. Keys and
    /// valid paths stay. Does nothing before [`Association::set_remote`].
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

    /// Credentials of the peer, once they are known.
    #[must_use]
    pub fn remote_credentials(&self) -> Option<&Credentials> {
        self.ice.remote_credentials()
    }

    /// Adds a local address; paths to the known remote addresses are tried. An existing
    /// address gets the new link, cost and filter.
    pub fn add_local(&mut self, now: Instant, local: LocalAddress) {
        self.ice.add_local(now, local);
        self.settle(now);
    }

    /// Moves the selection to a new local address on the selected path's link, for a peer
    /// that ignores a second nomination ([`Agent::move_selection`]).
    pub fn move_selection(&mut self, now: Instant, local: LocalAddress) {
        self.ice.move_selection(now, local);
        self.settle(now);
    }

    /// Whether this side nominates the path that the peer sends on.
    #[must_use]
    pub fn role(&self) -> IceRole {
        self.ice.role()
    }

    /// Removes a local address and its paths.
    pub fn remove_local(&mut self, now: Instant, addr: SocketAddr) {
        self.ice.remove_local(now, addr);
        self.settle(now);
    }

    /// Adds a remote address that arrived before or after the description.
    pub fn add_remote_candidate(&mut self, now: Instant, candidate: RemoteCandidate) {
        self.ice.add_remote(now, candidate);
        self.settle(now);
    }

    /// Handles a datagram that arrived between these addresses.
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

    /// Encrypts an RTP packet in place and appends the tag. Call it only once for each
    /// SSRC and sequence number: a copy on another path has the same bytes.
    ///
    /// `rest` is the end of the payload, which is first appended to `packet`.
    ///
    /// # Errors
    /// See [`ProtectError`]; on an error, the packet is unchanged.
    pub fn protect_rtp(&mut self, packet: &mut Vec<u8>, rest: &[u8]) -> Result<(), ProtectError> {
        let srtp = self.srtp.as_mut().ok_or(ProtectError::NotConnected)?;
        srtp.protect_rtp(packet, rest)
    }

    /// Encrypts a compound RTCP packet in place and appends index and tag.
    ///
    /// # Errors
    /// See [`ProtectError`]; on an error, the packet is unchanged.
    pub fn protect_rtcp(&mut self, packet: &mut Vec<u8>) -> Result<(), ProtectError> {
        let srtp = self.srtp.as_mut().ok_or(ProtectError::NotConnected)?;
        srtp.protect_rtcp(packet)
    }

    /// Sends application data over DTLS, as the same record on each of these paths: the
    /// peer accepts the first copy and drops the others as replays. Sends nothing before
    /// the handshake is finished.
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

    /// Path by its number.
    #[must_use]
    pub fn path(&self, id: PathId) -> Option<&Path> {
        self.ice.path(id)
    }

    /// Every path that was ever valid or delivered media, in any state.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.ice.paths()
    }

    /// All pairs, which identify incoming datagrams of this association.
    pub fn routes(&self) -> impl Iterator<Item = Route> {
        self.ice.routes()
    }

    /// Changes whenever [`Association::routes`] grows or shrinks, or one of them becomes valid.
    #[must_use]
    pub fn routes_revision(&self) -> u64 {
        self.ice.routes_revision()
    }

    /// Selected path; it may be down if all paths are.
    #[must_use]
    pub fn selected(&self) -> Option<PathId> {
        self.ice.selected()
    }

    /// Reports that a path looks dead. Every valid path is checked at once. Paths that do
    /// not answer while another one does go down, but never the last one.
    pub fn suspect(&mut self, now: Instant, path: PathId) {
        self.ice.suspect(now, path);
        self.settle(now);
    }

    /// Whether paths are being checked because one looks dead: then call
    /// [`Association::set_media`].
    #[must_use]
    pub fn is_suspicious(&self) -> bool {
        self.ice.is_suspicious()
    }

    /// Sets a path's round trip as measured by media, which includes queueing delays of the
    /// checks, and the time of its latest feedback with news. A path with such news stays up.
    pub fn set_media(&mut self, path: PathId, rtt: Duration, heard_at: Option<Instant>) {
        self.ice.set_media(path, rtt, heard_at);
    }

    /// Nominates a path that is up: the peer sends there from now on. Does nothing on the
    /// controlled side, or for other paths.
    pub fn select(&mut self, now: Instant, path: PathId) {
        self.ice.select(now, path);
        self.settle(now);
    }

    /// Returns the reason, as far as known, why the handshake is not finished although it
    /// has a path. `None` before ICE connects and after DTLS has.
    #[must_use]
    pub fn obstacle(&self) -> Option<FailReason> {
        let has_path = self.ice.routes().any(|route| route.is_valid);
        has_path.then(|| self.dtls.obstacle()).flatten()
    }

    /// Sends a goodbye to the peer.
    pub fn close(&mut self, now: Instant) {
        self.dtls.close();
        self.settle(now);
    }

    /// Handles the passing of time.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.ice.handle_timeout(now);
        if self.dtls.handle_timeout(now) {
            self.flights.on_timeout();
        }
        self.settle(now);
    }

    /// Deadline of the next [`Association::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        self.deadline
    }

    /// Returns the next datagram or event.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.out.pop()
    }

    /// Returns the counters.
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
        // Only addresses that answer our checks or send their own are heard. Datagrams
        // from others must not cost us any time.
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

    /// Passes on the outputs of ICE and DTLS, applies the result of the handshake, and
    /// updates the deadline.
    fn settle(&mut self, now: Instant) {
        while let Some(output) = self.ice.poll_output() {
            match output {
                weft_ice::Output::Transmit { tuple, datagram } => {
                    self.out.transmit(tuple, datagram);
                }
                weft_ice::Output::Event(event) => self.out.event(Event::Ice(event)),
            }
        }
        // A flight is several times as long as the request for it, so it is sent only to
        // an address that answered a check.
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
