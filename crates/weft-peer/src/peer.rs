mod answer;
mod capture;
mod data_link;
mod messages;
mod moving;
mod offer;
mod sending;
mod sent_packets;
mod settings;

pub use answer::answer;
pub use offer::Offer;
pub use sent_packets::{CapturedPacket, PacketWay};

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;

use weft_ice::{Credentials, IceRole, LocalAddress, PathState, RemoteCandidate};
use weft_secure::{Association, DropReason, Received};
use weft_session::{Frame, Input, Output as SessionOutput, Protocol, Session};
use weft_units::{Bytes, Deadline, Duration, Ecn, FiveTuple, Instant, PathId, StreamId, Transport};
use weft_wire::media::ForwardedPacket;

use crate::negotiation::Offering;
use crate::negotiation::answered::Answered;
use crate::paths;
use crate::stream::NegotiatedStream;
use data_link::DataLink;
use moving::Moving;
use sent_packets::SentPackets;

/// Request of a peer to its owner.
#[derive(Debug)]
pub enum Output {
    /// Send this datagram.
    Transmit {
        /// Local and remote address.
        tuple: FiveTuple,
        /// ECN field of the IP header.
        ecn: Ecn,
        /// Complete, protected datagram.
        datagram: Vec<u8>,
    },
    /// Event for the application.
    Event(Event),
}

/// Event of a peer: of its association, its paths or its streams.
#[derive(Debug)]
pub enum Event {
    /// Event of the association: a path, the connection, a failure.
    Association(weft_secure::Event),
    /// Event of the session: a frame, a rate, a request.
    Session(weft_session::Event),
    /// Event of a data channel.
    Data(weft_data::Event),
    /// A packet was sent or received ([`Peer::capture_packets`]).
    Packet(Box<CapturedPacket>),
    /// Checks are answered, but no feedback arrives: the peer still sends on a path that
    /// has failed. Call [`Peer::move_selection`] with a new socket on the same link as
    /// this local address.
    AddressWanted {
        /// Local address of the selected path.
        beside: SocketAddr,
    },
}

/// Round trip assumed until a check or feedback has measured it. libwebrtc's default for
/// an unknown connection is longer, but only the first retransmissions depend on it.
const UNKNOWN_RTT: Duration = Duration::from_millis(100);

/// Maximum length of a datagram that is handled, in bytes: its content uses memory in
/// proportion to its length for as long as it may be requested again. Chosen by us: more
/// than Ethernet's 1,500 (IEEE 802.3), less than two of them.
pub const MAX_DATAGRAM: usize = 2_048;

/// Length of the UDP header and the IPv4 or IPv6 header (RFC 8200), in bytes.
fn headers(tuple: FiveTuple) -> u64 {
    match tuple.local {
        SocketAddr::V4(_) => 28,
        SocketAddr::V6(_) => 48,
    }
}

/// Association with one session on top.
///
/// Order of calls: any input, then [`Peer::poll_output`] until `None`, then
/// [`Peer::poll_timeout`]. Time must not decrease.
pub struct Peer {
    pub(crate) association: Association,
    pub(crate) session: Session,
    pub(crate) locals: Vec<LocalAddress>,
    pub(crate) streams: Vec<NegotiatedStream>,
    /// Titles of the streams that the offerer titled.
    pub(crate) titles: BTreeMap<StreamId, String>,
    /// Received streams that carry a presentation.
    pub(crate) presentations: BTreeSet<StreamId>,
    /// Offers of this side; `None` if the other side makes them.
    offering: Option<Box<Offering>>,
    /// Answers of this side; `None` if it makes the offers.
    answered: Option<Box<Answered>>,
    connected: bool,
    /// Data channels, if both sides have them.
    data: Option<DataLink>,
    /// Packets that may have to be sent again unchanged.
    sent: SentPackets,
    /// Number of datagrams that could not be used, except for reports that arrived twice.
    discarded: u64,
    moving: Moving,
    #[cfg(test)]
    pub(crate) broken: bool,
    outputs: VecDeque<Output>,
}

impl Peer {
    pub(crate) fn assemble(association: Association, session: Session) -> Peer {
        Peer {
            association,
            session,
            locals: Vec::new(),
            streams: Vec::new(),
            titles: BTreeMap::new(),
            presentations: BTreeSet::new(),
            offering: None,
            answered: None,
            connected: false,
            data: None,
            sent: SentPackets::default(),
            discarded: 0,
            moving: Moving::default(),
            #[cfg(test)]
            broken: false,
            outputs: VecDeque::new(),
        }
    }

    /// Negotiated streams, in the order of the description.
    #[must_use]
    pub fn streams(&self) -> &[NegotiatedStream] {
        &self.streams
    }

    /// Returns the title that the peer's offer gives a stream that the peer sends.
    #[must_use]
    pub fn title(&self, stream: StreamId) -> Option<&str> {
        self.titles.get(&stream).map(String::as_str)
    }

    /// Whether the other side marks a received stream as a presentation (RFC 4796).
    #[must_use]
    pub fn is_presentation(&self, stream: StreamId) -> bool {
        self.presentations.contains(&stream)
    }

    /// Read access to the session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Read access to the association.
    #[must_use]
    pub fn association(&self) -> &Association {
        &self.association
    }

    /// Number of datagrams that could not be used so far: refused, unreadable, or beyond
    /// the limits for one peer.
    #[must_use]
    pub fn discarded(&self) -> u64 {
        let drops = self.session.drops();
        self.discarded + drops.malformed + drops.over_budget
    }

    /// Whether media can flow.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Handles a datagram that arrived with this ECN field. Returns whether it had the peer's
    /// signature. A datagram that is neither signed nor DTLS is dropped and counted.
    pub fn handle_datagram(
        &mut self,
        now: Instant,
        tuple: FiveTuple,
        ecn: Ecn,
        datagram: &[u8],
    ) -> bool {
        #[cfg(test)]
        assert!(!self.broken, "as a defect would");
        if datagram.len() > MAX_DATAGRAM {
            self.discarded += 1;
            return false;
        }
        self.pass_signs_of_life();
        let (sent, outputs) = (&self.sent, &mut self.outputs);
        let mut capture = |path, protocol, packet| {
            let captured = sent.received((path, tuple), protocol, packet);
            let event = |packet| Output::Event(Event::Packet(packet));
            outputs.extend(captured.map(event));
        };
        let genuine = match self.association.handle_datagram(now, tuple, datagram) {
            Received::Rtp { path, packet } => {
                capture(path, Protocol::Rtp, packet);
                let input = Input::Rtp { path, ecn, packet };
                self.session.handle_input(now, input);
                true
            }
            Received::RtpAgain { path, packet } => {
                capture(path, Protocol::Rtp, packet);
                let input = Input::RtpAgain { path, ecn, packet };
                self.session.handle_input(now, input);
                true
            }
            Received::Rtcp { path, packet } => {
                capture(path, Protocol::Rtcp, packet);
                self.session.handle_input(now, Input::Rtcp { path, packet });
                true
            }
            Received::Handled => true,
            Received::Dtls => false,
            Received::Dropped(reason) => {
                // A report arrives twice, over two paths.
                self.discarded += u64::from(reason != DropReason::Replayed);
                false
            }
        };
        self.pump(now);
        genuine
    }

    /// Handles the passing of time; a spurious call does nothing.
    pub fn handle_timeout(&mut self, now: Instant) {
        #[cfg(test)]
        assert!(!self.broken, "as a defect would");
        self.pass_signs_of_life();
        // Most timeouts are for packets that wait for their pacer.
        if self.association.poll_timeout().is_some_and(|d| d.at <= now) {
            self.association.handle_timeout(now);
        }
        self.session.handle_input(now, Input::Timeout);
        let suspect = self.data.as_mut().and_then(|data| data.handle_timeout(now));
        if let Some(path) = suspect {
            self.association.suspect(now, path);
        }
        self.pump(now);
        self.want_address(now);
    }

    /// Asks for a new local address if the peer's feedback is missing.
    fn want_address(&mut self, now: Instant) {
        let controls = self.association.role() == IceRole::Controlling;
        if !controls || !self.moving.is_due(now) || !self.session.is_unheard(now) {
            return;
        }
        let selected = self.association.selected();
        let selected = selected.and_then(|id| self.association.path(id));
        if let Some(path) = selected.filter(|path| path.state == PathState::Up) {
            self.moving.begin(now);
            let beside = path.tuple.local;
            let wanted = Event::AddressWanted { beside };
            self.outputs.push_back(Output::Event(wanted));
        }
    }

    /// Deadline of the next [`Peer::handle_timeout`].
    #[must_use]
    pub fn poll_timeout(&self) -> Option<Deadline> {
        let session = if self.connected {
            self.session.poll_timeout()
        } else {
            None
        };
        let data = self.data.as_ref().and_then(DataLink::poll_timeout);
        let media = Deadline::earlier(self.association.poll_timeout(), session);
        Deadline::earlier(media, data)
    }

    /// Returns the next output; call it until `None`.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Exchanges the queue of outputs for this empty one.
    pub(crate) fn swap_outputs(&mut self, empty: &mut VecDeque<Output>) {
        std::mem::swap(&mut self.outputs, empty);
    }

    /// Returns the buffer of a sent datagram for reuse. Without this call, each datagram
    /// costs an allocation.
    pub fn recycle(&mut self, datagram: Vec<u8>) {
        self.session.recycle(datagram);
    }

    /// Sends a frame on a sending stream.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn send_frame(
        &mut self,
        now: Instant,
        stream: StreamId,
        frame: &Frame<'_>,
    ) -> Result<(), weft_session::Error> {
        self.session.send_frame(now, stream, frame)?;
        self.pump(now);
        Ok(())
    }

    /// Forwards a packet that another peer sent.
    ///
    /// # Errors
    /// If there is no such stream.
    pub fn send_packet(
        &mut self,
        now: Instant,
        stream: StreamId,
        packet: &ForwardedPacket,
    ) -> Result<(), weft_session::Error> {
        self.session.send_packet(now, stream, packet)?;
        self.pump(now);
        Ok(())
    }

    /// Asks the sender of an incoming stream for a keyframe.
    pub fn request_keyframe(&mut self, now: Instant, stream: StreamId) {
        self.session.request_keyframe(now, stream);
        self.pump(now);
    }

    /// Adds a local address and its paths, without renegotiation: the peer learns the
    /// address from the check.
    pub fn add_local(&mut self, now: Instant, local: LocalAddress) {
        self.association.add_local(now, local.clone());
        self.locals.push(local);
        self.pump(now);
    }

    /// Moves the peer's sending to a new local address, as [`Event::AddressWanted`] requests.
    pub fn move_selection(&mut self, now: Instant, local: LocalAddress) {
        self.association.move_selection(now, local.clone());
        self.locals.push(local);
        self.pump(now);
    }

    /// Removes a local UDP address and its paths.
    pub fn remove_local(&mut self, now: Instant, addr: SocketAddr) {
        self.locals
            .retain(|l| (l.transport, l.addr) != (Transport::Udp, addr));
        self.association.remove_local(now, addr);
        self.pump(now);
    }

    /// Adds a candidate that the peer sent after its description.
    pub fn add_remote_candidate(&mut self, now: Instant, candidate: RemoteCandidate) {
        self.association.add_remote_candidate(now, candidate);
        self.pump(now);
    }

    /// Restarts ICE; for a peer in a set, see [`PeerSet::restart`](crate::PeerSet::restart).
    pub fn restart(
        &mut self,
        now: Instant,
        ours: Credentials,
        theirs: &Credentials,
        candidates: &[RemoteCandidate],
    ) {
        self.association.restart(now, ours, theirs, candidates);
        self.pump(now);
    }

    /// Sends a goodbye on all sending streams, without a guarantee of delivery.
    pub fn close(&mut self, now: Instant) {
        self.session.close();
        self.pump(now);
        self.association.close(now);
        self.pump(now);
    }

    /// Passes outputs between the layers and to the owner.
    pub(crate) fn pump(&mut self, now: Instant) {
        loop {
            while let Some(output) = self.association.poll_output() {
                match output {
                    weft_secure::Output::Transmit { tuple, datagram } => {
                        let size = datagram.len() as u64 + headers(tuple);
                        self.session.charge(now, Bytes(size));
                        self.outputs.push_back(Output::Transmit {
                            tuple,
                            ecn: Ecn::NotEct,
                            datagram,
                        });
                    }
                    weft_secure::Output::Event(event) => self.on_association(now, event),
                }
            }
            // Only a suspicion causes new outputs of the association.
            let mut suspects = false;
            while let Some(output) = self.session.poll_output() {
                match output {
                    SessionOutput::Transmit(transmit) => self.transmit(now, transmit),
                    SessionOutput::Repeat(repeat) => self.repeat(repeat),
                    SessionOutput::SuspectPath(path) => {
                        suspects = true;
                        self.association.suspect(now, path);
                    }
                    SessionOutput::Event(event) => {
                        self.outputs.push_back(Output::Event(Event::Session(event)));
                    }
                }
            }
            if !self.pump_data(now) && !suspects {
                return;
            }
        }
    }

    /// Passes signs of life in media to the association before it gives a verdict.
    fn pass_signs_of_life(&mut self) {
        if self.association.is_suspicious() {
            for (path, rtt, heard_at) in self.session.signs_of_life() {
                self.association.set_media(path, rtt, heard_at);
            }
        }
    }

    fn on_association(&mut self, now: Instant, event: weft_secure::Event) {
        match &event {
            weft_secure::Event::Connected { .. } => {
                self.connected = true;
                let up: Vec<(PathId, Duration)> = self
                    .association
                    .paths()
                    .filter(|p| p.state == PathState::Up)
                    .map(|p| (p.id, p.rtt.unwrap_or(UNKNOWN_RTT)))
                    .collect();
                for (path, rtt) in up {
                    self.session.handle_input(now, Input::PathUp { path, rtt });
                }
                if let Some(data) = &mut self.data {
                    data.channels.connect(now);
                }
            }
            weft_secure::Event::Data(packet) => {
                match &mut self.data {
                    Some(data) => data.handle_packet(now, packet),
                    None => self.discarded += 1,
                }
                return;
            }
            weft_secure::Event::Ice(event) => {
                let is_early = |input: &Input<'_>| matches!(input, Input::PathUp { .. });
                let input = paths::input(event);
                if let Some(input) = input.filter(|i| self.connected || !is_early(i)) {
                    self.session.handle_input(now, input);
                }
            }
            _ => {}
        }
        self.outputs
            .push_back(Output::Event(Event::Association(event)));
    }
}
