//! A room in virtual time: the plane of a server, and peers that reach it over
//! links.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::net::SocketAddr;

use weft_forwarding::{Event as PlaneEvent, MediaError, Output as PlaneOutput, Plane};
use weft_forwarding::{Publisher, ResourceId, Settings};
use weft_ice::{IceRole, LocalAddress};
use weft_peer::{
    AnswerPolicy, Entropy, Offer, Output, Peer, PeerConfig, Section, StreamDirection, TimeOrigin,
    answer,
};
use weft_secure::{Certificate, testing};
use weft_session::Delivery;
use weft_testing::allocation::measure;
use weft_testing::pictures::Layers;
use weft_units::{Bytes, Duration, Ecn, Instant, MediaKind, Rate, Rng};
use weft_wire::payload::Form;
use weft_wire::rtp::Rid;

use crate::client::{Camera, Client};
use crate::common::{FRAME_INTERVAL, Record, source};
use crate::wires::{Family, Wires, any_epoch};

/// Most that is published if nothing else is said: it has no layers, so every
/// player gets all of it.
const PUBLISHED: Rate = Rate::from_kbps(1_500);

fn sections(direction: StreamDirection, cameras: &[Option<Form>]) -> Vec<Section> {
    let of = |form: &Option<Form>| Section {
        form: *form,
        ..Section::new(MediaKind::Video, direction)
    };
    cameras.iter().map(of).collect()
}

/// The offer as a browser makes it: with transport-wide feedback.
fn browsers(offer: &str) -> String {
    let known = |line: &&str| !line.contains("urn:weft:") && !line.contains("ack ccfb");
    let lines: Vec<&str> = offer.lines().filter(known).collect();
    lines.join("\r\n") + "\r\n"
}

/// A plane, its clients and the wires between them. More than fifteen fields: a
/// test sets how the next client is made.
pub struct Room {
    pub now: Instant,
    pub plane: Plane,
    pub clients: Vec<Client>,
    pub events: Vec<PlaneEvent>,
    wires: Wires,
    server: SocketAddr,
    origin: TimeOrigin,
    /// Certificate of the server and of the next client.
    pub certificate: Certificate,
    rng: Rng,
    /// Hash of every datagram with its time and its addresses.
    digest: DefaultHasher,
    pub datagrams: u64,
    /// UDP payload that the server sent.
    pub sent: Bytes,
    /// How often the server took memory for packets and timeouts.
    pub allocations: u64,
    /// Maximum rate of the next publisher.
    pub published: Rate,
    /// Pictures of the next publisher: time between them, and layers.
    pub pictures: (Duration, Layers),
    /// Link of the next client, if it is not one of their own: the
    /// connections of one viewer have one in common.
    pub link: Option<usize>,
    /// Whether the next client offers what browsers do, and not what weft's
    /// endpoints do.
    pub browser: bool,
    /// Whether the last section of an offer to publish is a presentation.
    presents: bool,
    /// Strangers of whom each sends something before each datagram that comes.
    pub strangers: u16,
    /// No datagram of a handshake comes to the server (RFC 7983).
    pub without_handshakes: bool,
}

impl Room {
    /// Nobody is in it; the first link leads to who comes first.
    pub fn new(seed: u64, links: &[&str]) -> Room {
        Room::sending(seed, links, None)
    }

    /// Makes a room whose server sends at most `egress`.
    pub fn sending(seed: u64, links: &[&str], egress: Option<Rate>) -> Room {
        let rng = Rng::new(seed);
        let family = Family::V4;
        testing::repeat();
        let certificate = testing::certificate();
        let origin = TimeOrigin {
            std: any_epoch(),
            ntp: 0,
        };
        let settings = Settings::new(origin, certificate.clone(), &[family.hub()]).sending(egress);
        Room {
            now: Instant::ZERO,
            plane: Plane::new(settings),
            clients: Vec::new(),
            events: Vec::new(),
            wires: Wires::new(family, links, &rng),
            server: family.hub(),
            origin,
            certificate,
            rng,
            digest: DefaultHasher::new(),
            datagrams: 0,
            sent: Bytes::ZERO,
            allocations: 0,
            published: PUBLISHED,
            pictures: (FRAME_INTERVAL, Layers::One),
            link: None,
            browser: false,
            presents: false,
            strangers: 0,
            without_handshakes: false,
        }
    }

    pub fn digest(&self) -> u64 {
        self.digest.finish()
    }

    /// The next in line publishes video.
    pub fn publish(&mut self, publisher: &Publisher) {
        self.publish_cameras(publisher, &[None]);
    }

    /// The next in line publishes a camera for each of these, limited to a
    /// form of a codec or not.
    pub fn publish_cameras(&mut self, publisher: &Publisher, cameras: &[Option<Form>]) {
        let sections = sections(StreamDirection::Send, cameras);
        self.publish_sections(publisher, &sections, &[Rate::from_mbps(1_000)]);
    }

    /// The next in line publishes a camera in encodings of at most these rates.
    pub fn publish_encodings(&mut self, publisher: &Publisher, most: &[Rate]) {
        let mut sections = sections(StreamDirection::Send, &[None]);
        let names = (0..most.len()).filter_map(|n| Rid::new(&n.to_string()));
        sections[0].encodings = names.collect();
        self.publish_sections(publisher, &sections, most);
    }

    /// The next in line publishes a camera and a screen.
    pub fn publish_screen(&mut self, publisher: &Publisher) {
        self.presents = true;
        let sections = sections(StreamDirection::Send, &[None, None]);
        self.publish_sections(publisher, &sections, &[Rate::from_kbps(400); 2]);
        self.presents = false;
    }

    fn publish_sections(&mut self, publisher: &Publisher, sections: &[Section], most: &[Rate]) {
        let resource = self.next_resource();
        let mut config = self.config(IceRole::Controlling);
        config.session.max_rate = self.published;
        let offer = Offer::new(self.now, config, sections, Delivery::Frames);
        let entropy = self.entropy("server");
        let mut text = offer.sdp();
        if self.presents {
            text.push_str("a=content:slides\r\n");
        }
        let publisher = publisher.clone();
        let answered = self
            .plane
            .publish(self.now, resource, publisher, &text, &entropy);
        let answered = answered.expect("the offer is good");
        let peer = offer.accept(self.now, &answered.sdp);
        let (interval, layers) = self.pictures;
        let of = |most: &Rate| {
            let source = source(self.rng.stream("frames"));
            (source.with(interval, layers), *most)
        };
        let camera = Camera {
            sources: most.iter().map(of).collect(),
            next_frame: None,
            keyframes_asked: 0,
            wanted: Vec::new(),
        };
        self.enter(peer.expect("the answer is good"), Some(camera));
    }

    /// Somebody asks to publish, and is never heard of again.
    pub fn ask_and_vanish(&mut self, publisher: &Publisher) {
        let config = self.config(IceRole::Controlling);
        let sections = sections(StreamDirection::Send, &[None]);
        let offer = Offer::new(self.now, config, &sections, Delivery::Frames);
        let (resource, entropy) = (self.next_resource(), self.entropy("server"));
        let sdp = offer.sdp();
        let publisher = publisher.clone();
        let answered = self
            .plane
            .publish(self.now, resource, publisher, &sdp, &entropy);
        answered.expect("the offer is good");
        self.drain();
    }

    /// The next in line plays, upon an offer of its own.
    pub fn play(&mut self, publisher: &Publisher) {
        self.play_cameras(publisher, &[None]);
    }

    /// The next in line plays as many cameras, each limited to a form of a codec
    /// or not.
    pub fn play_cameras(&mut self, publisher: &Publisher, cameras: &[Option<Form>]) {
        self.ask_to_play(publisher, cameras)
            .expect("the offer is good");
    }

    /// The next in line plays these if the plane lets it.
    pub fn ask_to_play(
        &mut self,
        publisher: &Publisher,
        cameras: &[Option<Form>],
    ) -> Result<(), MediaError> {
        let resource = self.next_resource();
        let config = self.config(IceRole::Controlling);
        let sections = sections(StreamDirection::Receive, cameras);
        let offer = Offer::new(self.now, config, &sections, Delivery::Frames);
        let entropy = self.entropy("server");
        let text = match self.browser {
            false => offer.sdp(),
            true => browsers(&offer.sdp()),
        };
        let publisher = publisher.clone();
        let answered = self
            .plane
            .play(self.now, resource, publisher, Some(&text), &entropy)?;
        let peer = offer.accept(self.now, &answered.sdp);
        self.enter(peer.expect("the answer is good"), None);
        Ok(())
    }

    /// The next in line plays, upon an offer of the plane.
    pub fn play_offered(&mut self, publisher: &Publisher) {
        let resource = self.next_resource();
        let entropy = self.entropy("server");
        let offered = self.plane.play(
            self.now,
            resource.clone(),
            publisher.clone(),
            None,
            &entropy,
        );
        let offered = offered.expect("somebody publishes");
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let config = self.config(IceRole::Controlled);
        let answered = answer(self.now, config, &offered.sdp, &policy);
        let (peer, sdp) = answered.expect("the offer is good");
        self.plane
            .accept(self.now, resource, &sdp)
            .expect("the answer is good");
        self.enter(peer, None);
    }

    /// The next in line receives the whole room.
    pub fn receive(&mut self, receiver: &Publisher) {
        let (resource, entropy) = (self.next_resource(), self.entropy("server"));
        let (now, of) = (self.now, resource.clone());
        let offered = self.plane.receive(now, of, receiver.clone(), &entropy);
        let policy = AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        };
        let config = self.config(IceRole::Controlled);
        let offer = match self.browser {
            false => offered.sdp,
            true => browsers(&offered.sdp),
        };
        let (peer, sdp) = answer(now, config, &offer, &policy).expect("the offer is good");
        self.plane
            .accept(now, resource, &sdp)
            .expect("the answer is good");
        self.enter(peer, None);
        let client = self.clients.last_mut().expect("it entered");
        client.receives_room = true;
    }

    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        let mut steps_now = 0;
        self.drain();
        while let Some(next) = self.next_event().filter(|at| *at <= end) {
            steps_now = if next > self.now { 0 } else { steps_now + 1 };
            assert!(steps_now < 1000, "time does not advance at {:?}", self.now);
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
    }

    fn next_resource(&self) -> ResourceId {
        ResourceId(format!("resource {}", self.clients.len()))
    }

    fn enter(&mut self, peer: Peer, camera: Option<Camera>) {
        let address = self.next_local().addr;
        self.clients.push(Client {
            peer,
            address,
            record: Record::default(),
            seen: BTreeMap::new(),
            bytes: BTreeMap::new(),
            receives_room: false,
            lines: Vec::new(),
            changed: BTreeSet::new(),
            stills: 0,
            camera,
            is_gone: false,
        });
        self.drain();
    }

    fn config(&self, role: IceRole) -> PeerConfig {
        let local = self.next_local();
        let entropy = self.entropy("client");
        let certificate = self.certificate.clone();
        PeerConfig::new(role, self.origin, certificate, vec![local], &entropy)
    }

    /// Address of the next client.
    fn next_local(&self) -> LocalAddress {
        let place = self.clients.len();
        let mut local = self.wires.locals()[self.link.unwrap_or(place)].clone();
        if self.link.is_some() {
            local.addr.set_port(6000 + place as u16);
        }
        local
    }

    fn entropy(&self, end: &str) -> Entropy {
        let of = format!("{end} {}", self.clients.len());
        Entropy::repeating(self.rng.stream(&of))
    }

    fn next_event(&self) -> Option<Instant> {
        let there = self.clients.iter().filter(|client| !client.is_gone);
        let clients = there.flat_map(|client| {
            let frame = client.camera.as_ref().and_then(|c| c.next_frame);
            [client.peer.poll_timeout().map(|d| d.at), frame]
        });
        let others = [
            self.plane.poll_timeout().map(|d| d.at),
            self.wires.poll_timeout(),
        ];
        clients.chain(others).flatten().min()
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some(datagram) = self.wires.poll(now) {
            let (to, from, bytes) = (datagram.to, datagram.from, &datagram.bytes);
            if to == self.server && self.without_handshakes && matches!(bytes[0], 20..=63) {
                continue;
            }
            if to == self.server {
                for port in 1..=self.strangers {
                    let stranger = SocketAddr::from(([203, 0, 113, 9], port));
                    // As much as makes it look like a handshake.
                    self.plane
                        .handle_datagram(now, to, stranger, Ecn::NotEct, &[22]);
                }
                self.count(|plane| plane.handle_datagram(now, to, from, Ecn::NotEct, bytes));
            } else if let Some(client) = self.client_at(to).filter(|client| !client.is_gone) {
                client
                    .peer
                    .handle_datagram(now, to, from, Ecn::NotEct, bytes);
            }
        }
        self.count(|plane| plane.handle_timeout(now));
        for client in self.clients.iter_mut().filter(|client| !client.is_gone) {
            if client.peer.poll_timeout().is_some_and(|d| d.at <= now) {
                client.peer.handle_timeout(now);
            }
            client.capture(now);
        }
        self.drain();
    }

    fn client_at(&mut self, address: SocketAddr) -> Option<&mut Client> {
        self.clients.iter_mut().find(|c| c.address == address)
    }

    /// Drives the plane and counts how often it takes memory.
    fn count<R>(&mut self, call: impl FnOnce(&mut Plane) -> R) -> R {
        let (done, cost) = measure(|| call(&mut self.plane));
        self.allocations += cost.calls;
        done
    }

    fn drain(&mut self) {
        while let Some(output) = self.count(Plane::poll_output) {
            match output {
                PlaneOutput::Event(event) => self.on_plane_event(event),
                PlaneOutput::Transmit {
                    peer,
                    local,
                    remote,
                    datagram,
                    ..
                } => {
                    self.sent += Bytes(datagram.len() as u64);
                    self.send(local, remote, &datagram);
                    self.count(|plane| plane.recycle(peer, datagram));
                }
            }
        }
        for place in 0..self.clients.len() {
            if self.clients[place].is_gone {
                continue;
            }
            while let Some(output) = self.clients[place].peer.poll_output() {
                match output {
                    Output::Event(event) => self.clients[place].on_event(self.now, &event),
                    Output::Transmit {
                        local,
                        remote,
                        datagram,
                        ..
                    } => self.send(local, remote, &datagram),
                }
            }
        }
    }

    fn on_plane_event(&mut self, event: PlaneEvent) {
        match event {
            PlaneEvent::LinesChanged { resource, lines } => {
                self.client_of(&resource).on_lines(lines);
            }
            PlaneEvent::Offered { resource, sdp } => {
                let now = self.now;
                let peer = &mut self.client_of(&resource).peer;
                let answer = peer.answer(now, &sdp).expect("the offer is good");
                self.plane
                    .accept(now, resource, &answer)
                    .expect("the answer is good");
            }
            PlaneEvent::WantedChanged { resource, cameras } => {
                let camera = self.client_of(&resource).camera.as_mut();
                camera.expect("it publishes").wanted = cameras.concat();
            }
            event => self.events.push(event),
        }
    }

    fn client_of(&mut self, ResourceId(name): &ResourceId) -> &mut Client {
        let number = name.strip_prefix("resource ").expect("we named it");
        let number: usize = number.parse().expect("we named it");
        &mut self.clients[number]
    }

    fn send(&mut self, from: SocketAddr, to: SocketAddr, datagram: &[u8]) {
        self.digest.write_u64(self.now.as_nanos());
        self.digest.write(format!("{from} {to}").as_bytes());
        self.digest.write(datagram);
        self.datagrams += 1;
        self.wires.send(self.now, from, to, datagram.to_vec());
    }
}
