//! Person in a meeting, who publishes over one connection and receives the room over another.

pub mod camera;
mod connection;
pub mod talk;
pub mod viewer;

use std::net::{IpAddr, SocketAddr};

use weft_forwarding::ResourceId;
use weft_ice::IceRole;
use weft_peer::{AnswerPolicy, Event, Offer, Output, Peer, Section, StreamDirection, answer};
use weft_rooms::{Proof, Standing as Rights};
use weft_secure::Event as AssociationEvent;
use weft_session::{Delivery, Event as SessionEvent};
use weft_testing::pictures::{FRAME_INTERVAL, Layers};
use weft_units::{Codec, Ecn, FiveTuple, Instant, MediaKind, Rng};
use weft_wire::payload::Form;
use weft_wire::rtp::Rid;

use crate::member::{AGAIN, Speech, datagram};
use crate::network::Datagram;
use crate::peer_factory::PeerFactory;
use crate::server::{Requester, Server};
use camera::{Camera, PUBLISHED, SOUND_INTERVAL, sound};
pub use connection::{Connection, Purpose};
use talk::Talk;
use viewer::{Standing, Viewer};

/// Names of the encodings, the smallest first, as in the web page.
const RIDS: [&str; 3] = ["q", "h", "f"];

/// Sizes at which a person shows the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Showing {
    /// All large.
    Large,
    /// All small.
    Small,
    /// The first one large, the others small.
    First,
    /// Nobody.
    Nobody,
}

/// Presence in the room.
pub struct Presence {
    /// Id in the room.
    pub id: String,
    /// All connections; of two publications, the later one replaces the earlier.
    pub connections: Vec<Connection>,
}

/// Person in the meeting.
pub struct Person {
    pub name: String,
    /// Number among all people.
    pub number: usize,
    pub speech: Speech,
    /// Numbers of the links, and their addresses.
    pub links: Vec<usize>,
    ips: Vec<IpAddr>,
    pub showing: Showing,
    pub stay: Option<Presence>,
    /// Time to join, or to try again.
    pub due: Option<Instant>,
    /// Number of connections so far.
    pub opened: u64,
    pub camera: Camera,
    next_picture: Option<Instant>,
    next_sound: Option<Instant>,
    pub viewer: Viewer,
    /// Id under which a moderator removed the person.
    pub removed: Option<String>,
}

/// Person as the plan describes it.
#[derive(Clone, Debug)]
pub struct Profile {
    pub name: String,
    pub speech: Speech,
    pub showing: Showing,
    pub layers: Layers,
    /// Number of the camera's encodings.
    pub encodings: usize,
}

impl Person {
    pub fn new(
        number: usize,
        profile: &Profile,
        links: Vec<usize>,
        ips: Vec<IpAddr>,
        rng: &Rng,
    ) -> Person {
        let rng = rng.stream(&profile.name);
        Person {
            name: profile.name.clone(),
            number,
            speech: profile.speech,
            links,
            ips,
            showing: profile.showing,
            stay: None,
            due: None,
            opened: 0,
            camera: Camera::new(number, profile.encodings, profile.layers, &rng),
            next_picture: None,
            next_sound: None,
            viewer: Viewer::default(),
            removed: None,
        }
    }

    fn asking<'a>(&self, id: &'a str) -> Requester<'a> {
        Requester {
            by: self.ips[0],
            id,
            proof: Proof([self.number as u8 + 1; 32]),
        }
    }

    /// Joins, or replaces missing connections.
    pub fn go_on(&mut self, now: Instant, server: &mut Server, factory: &PeerFactory) {
        self.due = None;
        if self.stay.is_none() {
            let asking = self.asking(self.removed.as_deref().unwrap_or_default());
            // The first person is the host.
            let rights = match self.number {
                0 => Rights::Host,
                _ => Rights::Guest,
            };
            let joined = server.enter(now, &self.name, asking, rights);
            self.stay = joined.ok().map(|id| Presence {
                id,
                connections: Vec::new(),
            });
        }
        if self.stay.is_none() {
            self.due = Some(now + AGAIN);
            return;
        }
        if self.connection(Purpose::Publication).is_none() {
            self.publish(now, server, factory);
        }
        if self.connection(Purpose::Reception).is_none() {
            self.receive(now, server, factory);
        }
    }

    /// Publishes over a new connection, which replaces an existing one.
    pub fn publish(&mut self, now: Instant, server: &mut Server, factory: &PeerFactory) {
        let Some(id) = self.stay.as_ref().map(|stay| stay.id.clone()) else {
            return;
        };
        let (name, ports) = self.open();
        let mut config = factory.config(&name, IceRole::Controlling, &ports);
        config.session.max_rate = PUBLISHED;
        config.data_channels = true;
        let video = |encodings: &[&str]| Section {
            form: Some(Form::ours(Codec::Vp8)),
            encodings: encodings.iter().filter_map(|rid| Rid::new(rid)).collect(),
            ..Section::new(MediaKind::Video, StreamDirection::Send)
        };
        let count = match self.camera.encodings() {
            1 => 0,
            count => count,
        };
        let sections = [
            video(&RIDS[..count]),
            Section::new(MediaKind::Audio, StreamDirection::Send),
            video(&[]),
        ];
        let offer = Offer::new(now, config, &sections, Delivery::Frames);
        let text = presenting(&self.speech.said(&offer.sdp()));
        let entropy = factory.entropy(&format!("server for {name}"));
        let agreed = server.publish(now, self.asking(&id), &text, &entropy);
        let accepted = agreed.ok().and_then(|(resource, answer)| {
            let peer = offer.accept(now, &answer).ok()?;
            Some((resource, peer))
        });
        let shares = self.camera.shares;
        match accepted {
            Some((resource, peer)) => {
                server.share_screen(now, &resource, shares);
                self.connect(Purpose::Publication, (resource, peer), ports, factory);
            }
            None => self.due = Some(now + AGAIN),
        }
    }

    fn receive(&mut self, now: Instant, server: &mut Server, factory: &PeerFactory) {
        let Some(id) = self.stay.as_ref().map(|stay| stay.id.clone()) else {
            return;
        };
        let (name, ports) = self.open();
        let config = factory.config(&name, IceRole::Controlled, &ports);
        let entropy = factory.entropy(&format!("server for {name}"));
        let offered = server.receive_room(now, self.asking(&id), &entropy);
        let accepted = offered.ok().and_then(|(resource, offer)| {
            let policy = AnswerPolicy {
                receive: Some(Delivery::Frames),
                send: Vec::new(),
            };
            let answered = answer(now, config, &self.speech.said(&offer), &policy);
            let (peer, text) = answered.ok()?;
            let taken = server.accept(now, &resource, &text);
            taken.then_some((resource, peer))
        });
        match accepted {
            Some(agreed) => {
                self.viewer.begin_again();
                self.connect(Purpose::Reception, agreed, ports, factory);
            }
            None => self.due = Some(now + AGAIN),
        }
    }

    /// Returns the name of the next connection, and a new socket on each link.
    fn open(&mut self) -> (String, Vec<SocketAddr>) {
        self.opened += 1;
        let port = 20_000 + (self.opened % 10_000) as u16;
        let ports = self.ips.iter().map(|ip| SocketAddr::new(*ip, port));
        (format!("{} {}", self.name, self.opened), ports.collect())
    }

    fn connect(
        &mut self,
        purpose: Purpose,
        (resource, peer): (ResourceId, Peer),
        ports: Vec<SocketAddr>,
        factory: &PeerFactory,
    ) {
        let name = format!("timestamps of {} {}", self.name, self.opened);
        let connection = Connection {
            resource,
            purpose,
            peer,
            ports,
            up: None,
            connected: None,
            number: self.opened,
            timestamp_offset: factory.rng.stream(&name).next_u32(),
            talk: Talk::default(),
            is_over: false,
        };
        if let Some(stay) = &mut self.stay {
            stay.connections.push(connection);
        }
    }

    /// Answers an offer of more lines.
    pub fn renegotiate(
        &mut self,
        now: Instant,
        server: &mut Server,
        resource: &ResourceId,
        offer: &str,
    ) {
        let offer = self.speech.said(offer);
        let connection = self.connections_mut().find(|c| c.resource == *resource);
        let answered = connection.map(|connection| connection.peer.answer(now, &offer));
        if let Some(Ok(answer)) = answered {
            server.accept(now, resource, &answer);
        }
    }

    /// Leaves; returns the goodbyes of the connections.
    pub fn leave(&mut self, now: Instant, server: &mut Server) -> Vec<Datagram> {
        let mut farewells = Vec::new();
        if let Some(stay) = self.stay.take() {
            for mut connection in stay.connections {
                server.close(now, &connection.resource);
                connection.peer.close(now);
                while let Some(output) = connection.peer.poll_output() {
                    farewells.extend(datagram(output));
                }
            }
            server.release(now, &stay.id);
        }
        self.rest();
        farewells
    }

    /// Crashes without a goodbye.
    pub fn crash(&mut self, now: Instant, server: &mut Server) {
        if let Some(stay) = self.stay.take() {
            server.release(now, &stay.id);
        }
        self.rest();
    }

    fn rest(&mut self) {
        (self.due, self.next_picture, self.next_sound) = (None, None, None);
    }

    /// Notices that the server has restarted.
    pub fn forget_server(&mut self, again_at: Instant) {
        let was_there = self.stay.take().is_some() || self.due.is_some();
        self.rest();
        // A new server has removed nobody.
        self.removed = None;
        self.due = was_there.then_some(again_at);
    }

    /// Records that a moderator has removed the person; tries to return.
    pub fn be_removed(&mut self, now: Instant) {
        if let Some(stay) = self.stay.take() {
            self.rest();
            self.removed = Some(stay.id);
            self.due = Some(now + AGAIN);
        }
    }

    /// Records the end of a connection and tries again later.
    pub fn lose(&mut self, now: Instant, resource: &ResourceId) {
        if let Some(stay) = &mut self.stay {
            let before = stay.connections.len();
            stay.connections.retain(|c| c.resource != *resource);
            if stay.connections.len() < before {
                self.due = Some(now + AGAIN);
            }
        }
    }

    /// Forgets publications that the server has ended because of a later one.
    pub fn follow(&mut self, server: &Server) {
        if let Some(stay) = &mut self.stay {
            stay.connections
                .retain(|c| server.resources.contains_key(&c.resource));
        }
    }

    pub fn connections(&self) -> impl DoubleEndedIterator<Item = &Connection> {
        self.stay.iter().flat_map(|stay| &stay.connections)
    }

    fn connections_mut(&mut self) -> impl DoubleEndedIterator<Item = &mut Connection> {
        self.stay.iter_mut().flat_map(|stay| &mut stay.connections)
    }

    /// Returns the established publications.
    fn publications_mut(&mut self) -> impl Iterator<Item = &mut Connection> {
        let all = self.connections_mut();
        all.filter(|c| c.purpose == Purpose::Publication && c.up.is_some())
    }

    /// Returns the latest connection with this purpose.
    pub fn connection(&self, of: Purpose) -> Option<&Connection> {
        self.connections().rfind(|c| c.purpose == of)
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let peers = self.connections().filter_map(|c| c.peer.poll_timeout());
        let talks = self.connections().filter_map(|c| c.talk.poll_timeout());
        let media = [self.due, self.next_picture, self.next_sound];
        peers
            .map(|d| d.at)
            .chain(talks)
            .chain(media.into_iter().flatten())
            .min()
    }

    pub fn handle_datagram(&mut self, now: Instant, datagram: &Datagram) {
        let Datagram { from, to, bytes } = datagram;
        if let Some(found) = self.connections_mut().find(|c| c.ports.contains(to)) {
            found
                .peer
                .handle_datagram(now, FiveTuple::udp(*to, *from), Ecn::NotEct, bytes);
        }
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        let number = self.number;
        for connection in self.connections_mut() {
            if connection.peer.poll_timeout().is_some_and(|d| d.at <= now) {
                connection.peer.handle_timeout(now);
            }
            let by = (number, connection.number);
            connection.talk.speak(now, by, &mut connection.peer);
        }
        let due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if due(self.next_picture) {
            self.next_picture = Some(now + FRAME_INTERVAL);
            self.send_pictures(now);
        }
        if due(self.next_sound) {
            self.next_sound = Some(now + SOUND_INTERVAL);
            self.send_sound(now);
        }
    }

    fn send_pictures(&mut self, now: Instant) {
        let pictures = self.camera.capture(now);
        for connection in self.publications_mut() {
            connection.send_pictures(now, &pictures);
        }
    }

    fn send_sound(&mut self, now: Instant) {
        let data = sound(self.number, now);
        for connection in self.publications_mut() {
            connection.send_sound(now, &data);
        }
    }

    /// Sends everything that is due, each datagram with the number of its connection.
    /// `people` are all people of the meeting.
    pub fn drain(&mut self, now: Instant, people: &[Standing], out: &mut Vec<(u64, Datagram)>) {
        for place in 0..self.connections().count() {
            loop {
                let connection = self.connections_mut().nth(place);
                let polled = connection.and_then(|c| Some((c.number, c.peer.poll_output()?)));
                let Some((number, output)) = polled else {
                    break;
                };
                match output {
                    Output::Event(event) => self.on_event(now, place, people, event),
                    transmit @ Output::Transmit { .. } => {
                        out.extend(datagram(transmit).map(|datagram| (number, datagram)));
                    }
                }
            }
        }
        let over = self.connections().filter(|c| c.is_over);
        for resource in over.map(|c| c.resource.clone()).collect::<Vec<_>>() {
            self.lose(now, &resource);
        }
    }

    fn on_event(&mut self, now: Instant, place: usize, people: &[Standing], event: Event) {
        let before = self
            .connections()
            .filter(|c| c.purpose == Purpose::Publication);
        let before = before.filter_map(|c| c.up).min();
        let number = self.number;
        let Some(connection) = self
            .stay
            .as_mut()
            .and_then(|s| s.connections.get_mut(place))
        else {
            return;
        };
        let publishes = connection.purpose == Purpose::Publication;
        if let Event::Association(AssociationEvent::Connected { .. }) = event {
            connection.connected = Some(now);
        }
        match event {
            Event::Association(AssociationEvent::Connected { .. }) if publishes => {
                connection.up = Some(before.unwrap_or(now));
                connection.talk.open(now, &mut connection.peer);
                self.camera.want_all();
                self.camera
                    .set_rate(connection.peer.session().target_rate());
                self.next_picture.get_or_insert(now);
                self.next_sound.get_or_insert(now);
            }
            Event::Association(AssociationEvent::Connected { .. }) => connection.up = Some(now),
            Event::Association(AssociationEvent::Failed { .. }) => connection.is_over = true,
            Event::Session(SessionEvent::FrameReceived { stream, frame }) => {
                let streams = connection.peer.streams().iter();
                let mid = streams.filter(|s| s.stream == stream).find_map(|s| s.mid);
                let mid = mid.map(|mid| mid.to_string()).unwrap_or_default();
                let of = (number, people);
                self.viewer.show(now, of, (stream, &mid), &frame);
            }
            Event::Session(SessionEvent::KeyframeRequested { .. }) => {
                self.camera.request_keyframes()
            }
            Event::Session(SessionEvent::TargetRateChanged { rate }) if publishes => {
                self.camera.set_rate(rate);
            }
            Event::Data(event) => {
                let finding = connection.talk.on_event(now, event);
                self.viewer.wrong.extend(finding);
            }
            Event::Association(_)
            | Event::Session(_)
            | Event::AddressWanted { .. }
            | Event::Packet(_) => {}
        }
    }
}

/// Marks the last video section as a presentation (RFC 4796).
fn presenting(offer: &str) -> String {
    let Some(at) = offer.rfind("m=video") else {
        return offer.to_owned();
    };
    let end = offer[at + 1..]
        .find("\r\nm=")
        .map_or(offer.len(), |next| at + 1 + next + 2);
    format!("{}a=content:slides\r\n{}", &offer[..end], &offer[end..])
}
