//! Member: publishes or plays, and returns after a failure.

use std::net::SocketAddr;

use weft_forwarding::ResourceId;
use weft_ice::IceRole;
use weft_peer::{Event, Offer, Output, Peer, Section, StreamDirection};
use weft_secure::Event as AssociationEvent;
use weft_session::{Delivery, Event as SessionEvent, Frame};
use weft_testing::pictures::{FRAME_INTERVAL, Layers, Source, Stamp};
use weft_units::{Codec, Duration, Ecn, FiveTuple, Instant, MediaKind, Rate, Rng};
use weft_wire::payload::Form;

use crate::h264;
use crate::network::Datagram;
use crate::peer_factory::PeerFactory;
use crate::screen::Screen;
use crate::server::{Requester, Server};

/// Initial rate of a camera.
const BEGINNING: Rate = Rate::from_kbps(300);
/// Maximum rate of a member's publication, unless a run has another.
const PUBLISHED: Rate = Rate::from_kbps(500);
/// Time before a member tries again.
pub const AGAIN: Duration = Duration::from_millis(300);

/// Role of a member in the room.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    Publishes,
    /// Plays the participant with this name.
    Plays(String),
}

/// Kind of client, by the extensions in its offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Speech {
    /// Endpoint of weft: feedback by path.
    Native,
    /// Browser: transport-wide feedback.
    Browser,
}

/// Member of the room.
pub struct Member {
    pub name: String,
    pub part: Part,
    pub speech: Speech,
    /// Numbers of its links.
    pub links: Vec<usize>,
    pub screen: Screen,
    /// Presence in the room.
    pub stay: Option<Stay>,
    /// Time to join, or to try again.
    pub due: Option<Instant>,
    /// Number of connections so far.
    pub connections: u64,
    /// Codec for publishing from the next connection on.
    pub codec: Codec,
    /// Maximum rate of its publication, from the next connection on.
    pub most: Rate,
    camera: Source,
    /// Time of the next picture.
    next_picture: Option<Instant>,
}

/// Presence in the room.
pub struct Stay {
    /// Id in the room.
    pub id: String,
    pub call: Option<Call>,
    /// Connection that another one replaces, until the server ends it.
    pub old: Option<Call>,
}

/// Media connection.
pub struct Call {
    pub resource: ResourceId,
    /// Participant whose pictures it carries.
    pub publisher: String,
    pub peer: Peer,
    pub ports: Vec<SocketAddr>,
    /// Time at which it was established.
    pub up: Option<Instant>,
    /// Number of the connection among those of the member.
    pub number: u64,
    codec: Codec,
    /// Offset of the camera's timestamps: each connection starts with a random one (RFC
    /// 3550 section 5.1).
    timestamp_offset: u32,
}

impl Member {
    pub fn new(
        name: &str,
        part: Part,
        speech: Speech,
        layers: Layers,
        links: Vec<usize>,
        rng: &Rng,
    ) -> Member {
        Member {
            name: name.to_owned(),
            part,
            speech,
            links,
            screen: Screen::default(),
            stay: None,
            due: None,
            connections: 0,
            codec: Codec::Vp8,
            most: PUBLISHED,
            camera: Source::new(BEGINNING, rng.stream(&format!("camera of {name}")))
                .with(FRAME_INTERVAL, layers),
            next_picture: None,
        }
    }

    /// Joins, or tries again.
    pub fn go_on(
        &mut self,
        now: Instant,
        server: &mut Server,
        factory: &PeerFactory,
        ports: Vec<SocketAddr>,
    ) {
        self.due = None;
        if self.stay.is_none() {
            self.stay = server.join(now, &self.name).ok().map(|id| Stay {
                id,
                call: None,
                old: None,
            });
        }
        let Some(stay) = self.stay.as_mut().filter(|stay| stay.call.is_none()) else {
            return;
        };
        let direction = match self.part {
            Part::Publishes => StreamDirection::Send,
            Part::Plays(_) => StreamDirection::Receive,
        };
        self.connections += 1;
        let name = format!("{} {}", self.name, self.connections);
        let mut config = factory.config(&name, IceRole::Controlling, &ports);
        config.session.max_rate = self.most;
        let section = Section {
            form: (self.part == Part::Publishes).then_some(Form::ours(self.codec)),
            ..Section::new(MediaKind::Video, direction)
        };
        let offer = Offer::new(now, config, &[section], Delivery::Frames);
        let text = self.speech.said(&offer.sdp());
        let by = ports[0].ip();
        let entropy = factory.entropy(&format!("server for {name}"));
        let publisher = match &self.part {
            Part::Publishes => Some(stay.id.clone()),
            Part::Plays(whom) => server.published_by(whom),
        };
        let Some(publisher) = publisher else {
            self.due = Some(now + AGAIN);
            return;
        };
        let agreed = match &self.part {
            Part::Publishes => {
                let who = Requester::plain(by, &publisher);
                server.publish(now, who, &text, &entropy)
            }
            Part::Plays(_) => server.play(now, by, &publisher, &text, &entropy),
        };
        let accepted = agreed.ok().and_then(|(resource, answer)| {
            let peer = offer.accept(now, &answer).ok()?;
            Some((resource, peer))
        });
        let Some((resource, peer)) = accepted else {
            self.due = Some(now + AGAIN);
            return;
        };
        self.screen.begin_again();
        if stay.old.is_none() {
            (self.next_picture, self.camera.keyframe_wanted) = (None, true);
        }
        stay.call = Some(Call {
            resource,
            publisher,
            peer,
            ports,
            up: None,
            number: self.connections,
            codec: self.codec,
            timestamp_offset: factory
                .rng
                .stream(&format!("timestamps of {name}"))
                .next_u32(),
        });
    }

    /// Publishes once more, like a second page: the new connection replaces the old one
    /// when it is established.
    pub fn take_over(
        &mut self,
        now: Instant,
        server: &mut Server,
        factory: &PeerFactory,
        ports: Vec<SocketAddr>,
    ) {
        let Some(stay) = &mut self.stay else { return };
        if self.part != Part::Publishes || stay.old.is_some() || stay.call.is_none() {
            return;
        }
        stay.old = stay.call.take();
        self.go_on(now, server, factory, ports);
    }

    /// Publishes with the other codec from the next connection on.
    pub fn change_codec(&mut self) {
        self.codec = match self.codec {
            Codec::Vp8 => Codec::H264,
            _ => Codec::Vp8,
        };
    }

    /// Leaves with a goodbye.
    pub fn leave(&mut self, now: Instant, server: &mut Server) -> Vec<Datagram> {
        let mut farewells = Vec::new();
        if let Some(mut stay) = self.stay.take() {
            for mut call in stay.call.take().into_iter().chain(stay.old.take()) {
                server.close(now, &call.resource);
                call.peer.close(now);
                while let Some(output) = call.peer.poll_output() {
                    farewells.extend(datagram(output));
                }
            }
            server.release(now, &stay.id);
        }
        self.due = None;
        farewells
    }

    /// Follows a publisher who returned under another id.
    pub fn follow(&mut self, now: Instant, server: &mut Server) {
        if let Some(stay) = &mut self.stay {
            let is_there = |old: &Call| server.resources.contains_key(&old.resource);
            stay.old = stay.old.take().filter(is_there);
        }
        let (Part::Plays(whom), Some(call)) = (&self.part, self.call()) else {
            return;
        };
        let publishes = server.published_by(whom);
        if publishes.is_some_and(|publisher| publisher != call.publisher) {
            let resource = call.resource.clone();
            server.close(now, &resource);
            self.lose_call(now);
            self.due = Some(now);
        }
    }

    /// Crashes: leaves without a goodbye, and the event stream ends.
    pub fn crash(&mut self, now: Instant, server: &mut Server) {
        if let Some(stay) = self.stay.take() {
            server.release(now, &stay.id);
        }
        self.due = None;
    }

    /// Notices that the server has restarted.
    pub fn forget_server(&mut self, again_at: Instant) {
        if self.stay.take().is_some() || self.due.is_some() {
            self.due = Some(again_at);
        }
    }

    /// Records the end of the connection and tries again later.
    pub fn lose_call(&mut self, now: Instant) {
        if let Some(stay) = &mut self.stay {
            stay.call = None;
            self.due = Some(now + AGAIN);
        }
    }

    pub fn call(&self) -> Option<&Call> {
        self.stay.as_ref()?.call.as_ref()
    }

    /// Returns the current connection and the previous one.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let stay = self.stay.iter();
        stay.flat_map(|stay| stay.call.iter().chain(&stay.old))
    }

    fn calls_mut(&mut self) -> impl Iterator<Item = &mut Call> {
        let stay = self.stay.iter_mut();
        stay.flat_map(|stay| stay.call.iter_mut().chain(&mut stay.old))
    }

    fn call_mut(&mut self) -> Option<&mut Call> {
        self.stay.as_mut()?.call.as_mut()
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let peers = self.calls().filter_map(|c| c.peer.poll_timeout());
        let frame = self.calls().next().and(self.next_picture);
        self.due
            .into_iter()
            .chain(peers.map(|d| d.at))
            .chain(frame)
            .min()
    }

    /// Returns the reason of the connection's next timeout.
    pub fn reason(&self) -> Option<&'static str> {
        self.call()?.peer.poll_timeout().map(|d| d.reason)
    }

    pub fn handle_datagram(&mut self, now: Instant, datagram: &Datagram) {
        let Datagram { from, to, bytes } = datagram;
        if let Some(call) = self.calls_mut().find(|call| call.ports.contains(to)) {
            call.peer
                .handle_datagram(now, FiveTuple::udp(*to, *from), Ecn::NotEct, bytes);
        }
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        for call in self.calls_mut() {
            if call.peer.poll_timeout().is_some_and(|d| d.at <= now) {
                call.peer.handle_timeout(now);
            }
        }
        if self.next_picture.is_none_or(|at| at > now) || self.calls().next().is_none() {
            return;
        }
        self.next_picture = Some(now + FRAME_INTERVAL);
        let picture = self.camera.capture(now);
        for call in self.calls_mut().filter(|call| call.up.is_some()) {
            let timestamp = picture.timestamp.wrapping_add(call.timestamp_offset);
            let as_h264 = (call.codec == Codec::H264).then(|| h264::write(&picture));
            let frame = Frame {
                keyframe: picture.keyframe,
                temporal_layer: picture.temporal_layer,
                layer_sync: picture.layer_sync,
                non_reference: picture.temporal_layer == Some(2),
                ..Frame::new(as_h264.as_ref().unwrap_or(&picture.data), timestamp, now)
            };
            for agreed in call.peer.streams().to_vec() {
                let sent = call.peer.send_frame(now, agreed.stream, &frame);
                sent.expect("the stream was negotiated");
            }
        }
    }

    /// Sends everything that is due, and records a lost connection.
    pub fn drain(&mut self, now: Instant, out: &mut Vec<(u64, Datagram)>) {
        if let Some(old) = self.stay.as_mut().and_then(|stay| stay.old.as_mut()) {
            while let Some(output) = old.peer.poll_output() {
                out.extend(datagram(output).map(|datagram| (old.number, datagram)));
            }
        }
        let mut lost = false;
        while let Some(output) = self.call_mut().and_then(|c| c.peer.poll_output()) {
            match output {
                Output::Event(event) => lost |= self.on_event(now, event),
                transmit @ Output::Transmit { .. } => {
                    let number = self.connections;
                    out.extend(datagram(transmit).map(|datagram| (number, datagram)));
                }
            }
        }
        if lost {
            self.lose_call(now);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event) -> bool {
        match event {
            Event::Association(AssociationEvent::Connected { .. }) => {
                // Viewers do not notice that a connection is replaced.
                let before = self.stay.as_ref().and_then(|stay| stay.old.as_ref());
                let since = before.and_then(|old| old.up).unwrap_or(now);
                if let Some(call) = self.call_mut() {
                    call.up = Some(since);
                }
                if self.part == Part::Publishes {
                    self.camera.keyframe_wanted = true;
                    self.next_picture.get_or_insert(now);
                }
            }
            Event::Association(AssociationEvent::Failed { .. }) => return true,
            Event::Association(AssociationEvent::Ice(_) | AssociationEvent::Data(_)) => {}
            Event::Session(SessionEvent::FrameReceived { frame, .. }) => {
                let stamp = match frame.codec {
                    Codec::H264 => h264::read(&frame.data),
                    _ => Stamp::of(&frame.data),
                };
                self.screen.show(now, stamp, &frame);
            }
            Event::Session(SessionEvent::KeyframeRequested { .. }) => {
                self.camera.keyframe_wanted = true;
            }
            Event::Session(SessionEvent::TargetRateChanged { rate }) => self.camera.rate = rate,
            Event::Session(_) | Event::AddressWanted { .. } | Event::Data(_) | Event::Packet(_) => {
            }
        }
        false
    }
}

/// Returns the datagram of an output.
pub fn datagram(output: Output) -> Option<Datagram> {
    match output {
        Output::Transmit {
            tuple, datagram, ..
        } => Some(Datagram {
            from: tuple.local,
            to: tuple.remote,
            bytes: datagram,
        }),
        Output::Event(_) => None,
    }
}

impl Speech {
    /// Returns the offer as this kind of client makes it.
    pub fn said(self, offer: &str) -> String {
        match self {
            Speech::Native => offer.to_owned(),
            Speech::Browser => {
                let known = |line: &&str| !line.contains("urn:weft:") && !line.contains("ack ccfb");
                let lines: Vec<&str> = offer.lines().filter(known).collect();
                lines.join("\r\n") + "\r\n"
            }
        }
    }
}
