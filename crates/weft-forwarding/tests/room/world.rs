//! Room in virtual time: a server's plane, and peers that reach it over links.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};
use std::net::SocketAddr;

use weft_forwarding::{Event as PlaneEvent, Output as PlaneOutput, Plane, PlaneId, Relayed};
use weft_forwarding::{Recorded, ResourceId, Settings};
use weft_ice::{IceRole, LocalAddress};
use weft_peer::{Entropy, Output, Peer, PeerConfig, TimeOrigin};
use weft_secure::{Certificate, testing};
use weft_testing::allocation::measure;
use weft_testing::pictures::Layers;
use weft_units::{Bytes, Duration, Ecn, FiveTuple, Instant, Rate, Rng};

use crate::client::{Camera, Client};
use crate::common::{FRAME_INTERVAL, Record};
use crate::wires::{Family, Wires, any_epoch};

/// Default maximum of a publication's rate: it has no layers, so every player gets all of it.
const PUBLISHED: Rate = Rate::from_kbps(1_500);

fn id(plane: usize) -> PlaneId {
    PlaneId::new(plane).expect("there are not so many")
}

/// Plane, its clients and the wires between them.
///
/// More than fifteen fields: tests set the properties of the next client.
pub struct Room {
    pub now: Instant,
    pub plane: Plane,
    /// Further planes of the server.
    pub others: Vec<Plane>,
    /// Plane of the next client's connection; the first one is 0.
    pub home: usize,
    /// Droppable messages between planes: their number, and whether they are lost.
    pub relayed: (u64, bool),
    pub clients: Vec<Client>,
    pub events: Vec<PlaneEvent>,
    /// Messages to the recorder.
    pub recorded: Vec<(Instant, Recorded)>,
    wires: Wires,
    server: SocketAddr,
    origin: TimeOrigin,
    /// Certificate of the server and of the next client.
    pub certificate: Certificate,
    pub rng: Rng,
    /// Hash of every datagram with its time and its addresses.
    digest: DefaultHasher,
    pub datagrams: u64,
    /// UDP payload bytes that the server sent.
    pub sent: Bytes,
    /// Number of the server's allocations for packets and timeouts.
    pub allocations: u64,
    /// Maximum rate of the next publisher.
    pub published: Rate,
    /// Pictures of the next publisher: interval and layers.
    pub pictures: (Duration, Layers),
    /// Link of the next client, unless it has its own: the connections of one viewer share one.
    pub link: Option<usize>,
    /// Whether the next client offers what browsers do, rather than weft's endpoints.
    pub browser: bool,
    /// Whether the last section of an offer to publish is a presentation.
    pub presents: bool,
    /// Whether the next client wants data channels.
    pub data: bool,
    /// Number of strangers that each send a datagram before each arriving one.
    pub strangers: u16,
    /// Whether the server receives no datagrams of handshakes (RFC 7983).
    pub without_handshakes: bool,
    /// Clients whose addresses are forged: a client that is not on the first plane also
    /// sends its checks from those.
    pub forged: std::ops::Range<usize>,
}

impl Room {
    /// Creates an empty room; the first link is that of the first client.
    pub fn new(seed: u64, links: &[&str]) -> Room {
        Room::sending(seed, links, None)
    }

    /// Creates a room whose server sends at most `egress`.
    pub fn sending(seed: u64, links: &[&str], egress: Option<Rate>) -> Room {
        Room::spread(seed, links, 1, egress)
    }

    /// Creates a room whose server has this many planes.
    pub fn spread(seed: u64, links: &[&str], planes: usize, egress: Option<Rate>) -> Room {
        let rng = Rng::new(seed);
        let family = Family::V4;
        testing::repeat();
        let certificate = testing::certificate();
        let origin = TimeOrigin {
            std: any_epoch(),
            ntp: 0,
        };
        let settings =
            || Settings::new(origin, certificate.clone(), &[family.hub()]).sending(egress);
        let mut all: Vec<Plane> = match planes {
            1 => vec![Plane::new(settings())],
            _ => (0..planes)
                .map(|n| Plane::new(settings().of_plane(id(n))))
                .collect(),
        };
        for (place, plane) in all.iter_mut().enumerate() {
            for other in (0..planes).filter(|other| *other != place) {
                plane.link(Instant::ZERO, id(other));
            }
        }
        Room {
            now: Instant::ZERO,
            plane: all.remove(0),
            others: all,
            home: 0,
            relayed: (0, false),
            clients: Vec::new(),
            events: Vec::new(),
            recorded: Vec::new(),
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
            data: false,
            strangers: 0,
            without_handshakes: false,
            forged: 0..0,
        }
    }

    pub fn digest(&self) -> u64 {
        self.digest.finish()
    }

    /// Plane with this number, from 0.
    pub fn plane_at(&mut self, place: usize) -> &mut Plane {
        match place {
            0 => &mut self.plane,
            _ => &mut self.others[place - 1],
        }
    }

    /// Replaces one of several planes, which has failed, with an empty one.
    pub fn replace_plane(&mut self, place: usize) {
        let now = self.now;
        let settings = Settings::new(self.origin, self.certificate.clone(), &[self.server]);
        let mut plane = Plane::new(settings.of_plane(id(place)));
        for other in (0..=self.others.len()).filter(|other| *other != place) {
            plane.link(now, id(other));
            self.plane_at(other).unlink(now, id(place));
            self.plane_at(other).link(now, id(place));
        }
        *self.plane_at(place) = plane;
        self.drain();
    }

    pub fn planes(&self) -> impl Iterator<Item = &Plane> {
        std::iter::once(&self.plane).chain(&self.others)
    }

    pub fn home(&mut self) -> &mut Plane {
        let home = self.home;
        self.plane_at(home)
    }

    /// Index of the plane whose socket receives datagrams from this address.
    fn socket_of(&self, from: SocketAddr) -> usize {
        let mut hash = DefaultHasher::new();
        hash.write(from.to_string().as_bytes());
        hash.finish() as usize % (1 + self.others.len())
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

    pub fn next_resource(&self) -> ResourceId {
        ResourceId(format!("resource {}", self.clients.len()))
    }

    pub fn enter(&mut self, peer: Peer, camera: Option<Camera>) {
        let address = self.next_local().addr;
        self.clients.push(Client {
            peer,
            address,
            home: self.home,
            record: Record::default(),
            seen: BTreeMap::new(),
            sounds: 0,
            bytes: BTreeMap::new(),
            receives_room: false,
            messages: Vec::new(),
            lines: Vec::new(),
            changed: BTreeSet::new(),
            stills: 0,
            camera,
            is_gone: false,
        });
        self.drain();
    }

    pub fn config(&self, role: IceRole) -> PeerConfig {
        let local = self.next_local();
        let entropy = self.entropy("client");
        let certificate = self.certificate.clone();
        let mut config = PeerConfig::new(role, self.origin, certificate, vec![local], &entropy);
        config.data_channels = self.data;
        config
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

    pub fn entropy(&self, end: &str) -> Entropy {
        let of = format!("{end} {}", self.clients.len());
        Entropy::repeating(self.rng.stream(&of))
    }

    fn next_event(&self) -> Option<Instant> {
        let there = self.clients.iter().filter(|client| !client.is_gone);
        let clients = there.flat_map(|client| {
            let frame = client.camera.as_ref().and_then(|c| c.next_frame);
            [client.peer.poll_timeout().map(|d| d.at), frame]
        });
        let planes = self.planes().map(|plane| plane.poll_timeout());
        let planes = planes.map(|deadline| deadline.map(|d| d.at));
        let all = clients.chain(planes).chain([self.wires.poll_timeout()]);
        all.flatten().min()
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
                    // Enough bytes to look like a handshake.
                    self.plane.handle_datagram(
                        now,
                        FiveTuple::udp(to, stranger),
                        Ecn::NotEct,
                        &[22],
                    );
                }
                let is_check = matches!(bytes[..], [0, 1, ..]);
                let forges = is_check && self.client_at(from).is_some_and(|c| c.home != 0);
                for victim in self.forged.clone().filter(|_| forges) {
                    let victim = self.wires.locals()[victim].addr;
                    let socket = self.socket_of(victim);
                    self.count(socket, |plane| {
                        let tuple = FiveTuple::udp(to, victim);
                        plane.handle_datagram(now, tuple, Ecn::NotEct, bytes);
                    });
                }
                let socket = self.socket_of(from);
                self.count(socket, |plane| {
                    plane.handle_datagram(now, FiveTuple::udp(to, from), Ecn::NotEct, bytes);
                });
            } else if let Some(client) = self.client_at(to).filter(|client| !client.is_gone) {
                client
                    .peer
                    .handle_datagram(now, FiveTuple::udp(to, from), Ecn::NotEct, bytes);
            }
        }
        for place in 0..=self.others.len() {
            self.count(place, |plane| plane.handle_timeout(now));
        }
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

    /// Drives a plane and counts its allocations.
    fn count<R>(&mut self, place: usize, call: impl FnOnce(&mut Plane) -> R) -> R {
        let plane = self.plane_at(place);
        let (done, cost) = measure(|| call(plane));
        self.allocations += cost.calls;
        done
    }

    pub fn drain(&mut self) {
        loop {
            let relayed = self.drain_planes();
            if relayed.is_empty() {
                break;
            }
            let now = self.now;
            for (from, to, message) in relayed {
                self.count(to, |plane| plane.handle_relayed(now, id(from), message));
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
                        tuple, datagram, ..
                    } => self.send(tuple.local, tuple.remote, &datagram),
                }
            }
        }
    }

    /// Handles the planes' outputs, and returns their messages to each other.
    fn drain_planes(&mut self) -> Vec<(usize, usize, Relayed)> {
        let mut relayed = Vec::new();
        for place in 0..=self.others.len() {
            while let Some(output) = self.count(place, Plane::poll_output) {
                match output {
                    PlaneOutput::Event(event) => self.on_plane_event(event),
                    PlaneOutput::Record(recorded) => self.recorded.push((self.now, recorded)),
                    PlaneOutput::Captured { .. } => unreachable!("these planes capture nothing"),
                    PlaneOutput::Relay { to, message } => {
                        let is_optional = message.is_optional();
                        self.relayed.0 += u64::from(is_optional);
                        if !(is_optional && self.relayed.1) {
                            relayed.push((place, to.number(), message));
                        }
                    }
                    PlaneOutput::Transmit {
                        peer,
                        tuple,
                        datagram,
                        ..
                    } => {
                        self.sent += Bytes(datagram.len() as u64);
                        self.send(tuple.local, tuple.remote, &datagram);
                        self.count(place, |plane| plane.recycle(peer, datagram));
                    }
                }
            }
        }
        relayed
    }

    fn on_plane_event(&mut self, event: PlaneEvent) {
        match event {
            PlaneEvent::LinesChanged { resource, lines } => {
                self.client_of(&resource).on_lines(lines);
            }
            PlaneEvent::Offered { resource, sdp } => {
                let now = self.now;
                let client = self.client_of(&resource);
                let home = client.home;
                let answer = client.peer.answer(now, &sdp).expect("the offer is good");
                self.plane_at(home)
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
