//! Attackers. Those with a connection have its keys, and send packets that no honest peer would.

mod kind;
mod packets;

use std::net::{IpAddr, SocketAddr};

use weft_forwarding::ResourceId;
use weft_ice::{IceRole, RemoteCandidate};
use weft_peer::{Offer, Section, StreamDirection};
use weft_secure::{Association, DtlsRole, Event, Output, Remote};
use weft_session::Delivery;
use weft_units::{Codec, Duration, FiveTuple, Instant, MediaKind, Rate, Rng, Ssrc};
use weft_wire::payload::Form;
use weft_wire::rtp::ExtensionMap;
use weft_wire::sdp::{SessionDescription, Setup};

use crate::member::{Part, Speech};
use crate::network::{Datagram, SERVER};
use crate::peer_factory::PeerFactory;
use crate::server::{Requester, Server};

pub use kind::Kind;
use packets::{Numbers, Streams};

/// Interval of an attacker's actions.
const TICK: Duration = Duration::from_millis(5);
/// Time before it requests a connection again.
const AGAIN: Duration = Duration::from_millis(500);

/// Attack: its kind, rate and time.
#[derive(Clone, Debug)]
pub struct Attack {
    pub kind: Kind,
    /// Part that it plays in the room for that.
    pub part: Option<Part>,
    pub speech: Speech,
    /// Rate of its datagrams.
    pub rate: Rate,
    /// HTTP requests per second, for attacks by requests.
    pub requests: f64,
    pub from: Instant,
    pub until: Instant,
}

/// Attacker.
pub struct Attacker {
    pub name: String,
    pub attack: Attack,
    /// Number of its link.
    pub link: usize,
    pub ip: IpAddr,
    rng: Rng,
    /// Id in the room.
    id: Option<String>,
    line: Option<Line>,
    due: Option<Instant>,
    tries: u64,
    /// Bytes and requests that it may send at present.
    credit: f64,
    /// Addresses of others that it has forged as sources.
    pub forged: Vec<SocketAddr>,
    /// Number of refused requests.
    pub refused: u64,
}

/// Its connection.
struct Line {
    resource: ResourceId,
    association: Association,
    streams: Streams,
    numbers: Numbers,
    up: bool,
    /// Protected packets and signed checks that it sent.
    sent: Vec<Vec<u8>>,
    checks: Vec<Vec<u8>>,
}

impl Attacker {
    pub fn new(name: &str, attack: Attack, link: usize, ip: IpAddr, rng: &Rng) -> Attacker {
        Attacker {
            name: name.to_owned(),
            due: Some(attack.from),
            attack,
            link,
            ip,
            rng: rng.stream(name),
            id: None,
            line: None,
            tries: 0,
            credit: 0.0,
            forged: Vec::new(),
            refused: 0,
        }
    }

    /// Returns the connection that it has.
    pub fn resource(&self) -> Option<&ResourceId> {
        self.line.as_ref().map(|line| &line.resource)
    }

    /// Forgets the connection, because the server ended it or restarted.
    pub fn lose_line(&mut self) {
        self.line = None;
    }

    /// Forgets everything, because the server has restarted and knows nobody.
    pub fn forget_server(&mut self) {
        (self.line, self.id) = (None, None);
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let line = self.line.as_ref();
        let own = line.and_then(|line| line.association.poll_timeout());
        self.due.into_iter().chain(own.map(|d| d.at)).min()
    }

    pub fn handle_datagram(&mut self, now: Instant, datagram: &Datagram) {
        if let Some(line) = &mut self.line {
            let Datagram { from, to, bytes } = datagram;
            // It ignores the datagrams sent to it.
            let _ = line
                .association
                .handle_datagram(now, FiveTuple::udp(*to, *from), bytes);
        }
    }

    /// Does everything that is due. `others` are addresses of members.
    pub fn handle_timeout(
        &mut self,
        now: Instant,
        server: &mut Server,
        factory: &PeerFactory,
        others: &[SocketAddr],
        out: &mut Vec<Datagram>,
    ) {
        if let Some(line) = &mut self.line {
            line.association.handle_timeout(now);
        }
        if self.due.is_some_and(|at| at <= now) {
            self.due = (now < self.attack.until).then_some(now + TICK);
            if self.due.is_some() {
                if self.attack.part.is_some() && self.line.is_none() {
                    self.enter(now, server, factory);
                }
                self.act(now, server, factory, others, out);
            }
        }
        self.drain(out);
        if self.due.is_none() && now >= self.attack.until {
            if let Some(line) = self.line.take() {
                server.close(now, &line.resource);
            }
            if let Some(id) = self.id.take() {
                server.release(now, &id);
            }
        }
    }

    fn drain(&mut self, out: &mut Vec<Datagram>) {
        let Some(line) = &mut self.line else {
            return;
        };
        while let Some(output) = line.association.poll_output() {
            match output {
                Output::Transmit { tuple, datagram } => {
                    if matches!(datagram[..], [0, 1, ..]) && line.checks.len() < 16 {
                        line.checks.push(datagram.clone());
                    }
                    out.push(Datagram {
                        from: tuple.local,
                        to: tuple.remote,
                        bytes: datagram,
                    });
                }
                Output::Event(Event::Connected { .. }) => line.up = true,
                Output::Event(_) => {}
            }
        }
    }

    /// Requests a connection.
    fn enter(&mut self, now: Instant, server: &mut Server, factory: &PeerFactory) {
        self.tries += 1;
        self.due = Some(now + AGAIN);
        let Some(part) = self.attack.part.clone() else {
            return;
        };
        if self.id.is_none() {
            self.id = server.join(now, &self.name).ok();
        }
        let Some(id) = self.id.clone() else { return };
        let direction = match part {
            Part::Publishes => StreamDirection::Send,
            Part::Plays(_) => StreamDirection::Receive,
        };
        let name = format!("{} {}", self.name, self.tries);
        let port = SocketAddr::new(self.ip, 4_000 + (self.tries % 1_000) as u16);
        // Roles: claims the server's role.
        let role = match self.attack.kind == Kind::Roles && self.tries % 2 == 1 {
            true => IceRole::Controlled,
            false => IceRole::Controlling,
        };
        let config = factory.config(&name, role, &[port]);
        let section = Section {
            form: Some(Form::ours(Codec::Vp8)),
            ..Section::new(MediaKind::Video, direction)
        };
        let offer = Offer::new(now, config.clone(), &[section], Delivery::Packets);
        let text = self.attack.speech.said(&offer.sdp());
        let entropy = factory.entropy(&format!("server for {name}"));
        let agreed = match part {
            Part::Publishes => server.publish(now, Requester::plain(self.ip, &id), &text, &entropy),
            Part::Plays(whom) => match server.published_by(&whom) {
                Some(publisher) => server.play(now, self.ip, &publisher, &text, &entropy),
                None => return,
            },
        };
        let Ok((resource, answer)) = agreed else {
            self.refused += 1;
            return;
        };
        self.due = Some(now + TICK);
        let mut association = Association::new(now, config.association);
        for local in config.locals {
            association.add_local(now, local);
        }
        let answer = SessionDescription::parse(&answer).expect("the server writes SDP");
        association.set_remote(now, remote(&answer));
        let offer = SessionDescription::parse(&text).expect("we write SDP");
        self.line = Some(Line {
            resource,
            association,
            streams: streams(&offer, &answer),
            numbers: Numbers::default(),
            up: false,
            sent: Vec::new(),
            checks: Vec::new(),
        });
    }

    fn act(
        &mut self,
        now: Instant,
        server: &mut Server,
        factory: &PeerFactory,
        others: &[SocketAddr],
        out: &mut Vec<Datagram>,
    ) {
        match self.attack.kind {
            Kind::Reflects | Kind::Vanishes | Kind::Figures => {
                self.credit += self.attack.requests * TICK.as_secs_f64();
                while self.credit >= 1.0 {
                    self.credit -= 1.0;
                    self.request(now, server, factory, others);
                }
            }
            Kind::Noise => self.spend(|attacker| Some(attacker.noise(others)), out),
            Kind::Forges => self.spend(|attacker| attacker.forgery(others), out),
            // Requests a connection again, with the other role.
            Kind::Roles if self.tries < 40 && self.rng.chance(0.02) => {
                self.line = None;
                self.enter(now, server, factory);
            }
            Kind::Roles => {}
            Kind::Joins => {
                if let Some(line) = self.line.take_if(|line| line.up) {
                    server.close(now, &line.resource);
                }
            }
            Kind::Sips => {}
            _ if self.line.as_ref().is_some_and(|line| line.up) => {
                self.spend(Attacker::packet, out);
            }
            _ => {}
        }
    }

    /// Sends as much as its rate allows.
    fn spend(
        &mut self,
        mut next: impl FnMut(&mut Attacker) -> Option<Datagram>,
        out: &mut Vec<Datagram>,
    ) {
        self.credit += (self.attack.rate * TICK).0 as f64;
        while self.credit > 0.0 {
            let Some(datagram) = next(self) else {
                self.credit = 0.0;
                return;
            };
            self.credit -= datagram.bytes.len() as f64 + 28.0;
            out.push(datagram);
        }
    }

    /// Returns the next packet of its attack, protected.
    fn packet(&mut self) -> Option<Datagram> {
        let (kind, rng) = (self.attack.kind, &mut self.rng);
        let line = self.line.as_mut()?;
        let from = line.association.paths().next()?.tuple.local;
        let datagram = |bytes| Datagram {
            from,
            to: SERVER,
            bytes,
        };
        if kind == Kind::Replays && line.sent.len() >= 64 {
            let place = rng.below(line.sent.len() as u64) as usize;
            return Some(datagram(line.sent[place].clone()));
        }
        let (is_rtcp, mut packet) = line.packet(kind, rng);
        let protected = match is_rtcp {
            true => line.association.protect_rtcp(&mut packet),
            false => line.association.protect_rtp(&mut packet, &[]),
        };
        protected.ok()?;
        if kind == Kind::Replays {
            line.sent.push(packet.clone());
        }
        Some(datagram(packet))
    }

    fn noise(&mut self, others: &[SocketAddr]) -> Datagram {
        let rng = &mut self.rng;
        let mut bytes = vec![0; 1 + rng.below(1_200) as usize];
        rng.fill(&mut bytes);
        // Some datagrams of each protocol.
        bytes[0] = [0, 1, 22, 63, 128, 144, 255][rng.below(7) as usize];
        let port = 4_000 + rng.below(3) as u16;
        let own = SocketAddr::new(self.ip, port);
        let from = match others.is_empty() || rng.chance(0.3) {
            true => own,
            false => others[rng.below(others.len() as u64) as usize],
        };
        if from != own && !self.forged.contains(&from) {
            self.forged.push(from);
        }
        Datagram {
            from,
            to: SERVER,
            bytes,
        }
    }

    /// Returns one of its own checks with another's address.
    fn forgery(&mut self, others: &[SocketAddr]) -> Option<Datagram> {
        let line = self.line.as_ref()?;
        let count = line.checks.len() as u64;
        if count == 0 || others.is_empty() {
            return None;
        }
        let bytes = line.checks[self.rng.below(count) as usize].clone();
        let mut from = others[self.rng.below(others.len() as u64) as usize];
        if self.rng.chance(0.5) {
            from.set_port(9_000 + self.rng.below(64) as u16);
        }
        if !self.forged.contains(&from) {
            self.forged.push(from);
        }
        Some(Datagram {
            from,
            to: SERVER,
            bytes,
        })
    }

    fn request(
        &mut self,
        now: Instant,
        server: &mut Server,
        factory: &PeerFactory,
        others: &[SocketAddr],
    ) {
        if self.attack.kind == Kind::Figures {
            return server.ask_for_figures(now, self.ip);
        }
        self.tries += 1;
        // A new name each time, while the room has space.
        let name = format!("{} {}", self.name, self.tries);
        if self.id.is_none() {
            self.id = server.join(now, &name).ok();
        }
        let Some(id) = self.id.clone() else {
            self.refused += 1;
            return;
        };
        let own = SocketAddr::new(self.ip, 4_000);
        let ports: Vec<SocketAddr> = match self.attack.kind {
            Kind::Reflects => (0..32)
                .map(|n| {
                    let other = others.get(n % others.len().max(1)).unwrap_or(&own);
                    SocketAddr::new(other.ip(), 9_100 + n as u16)
                })
                .collect(),
            _ => vec![own],
        };
        let config = factory.config(&name, IceRole::Controlling, &ports[..ports.len().min(16)]);
        let section = Section {
            form: Some(Form::ours(Codec::Vp8)),
            ..Section::new(MediaKind::Video, StreamDirection::Send)
        };
        let offer = Offer::new(now, config, &[section], Delivery::Packets);
        let entropy = factory.entropy(&format!("server for {name}"));
        let agreed = server.publish(now, Requester::plain(self.ip, &id), &offer.sdp(), &entropy);
        self.refused += u64::from(agreed.is_err());
    }
}

impl Line {
    /// Returns the next packet of an attack, and whether it is RTCP.
    fn packet(&mut self, kind: Kind, rng: &mut Rng) -> (bool, Vec<u8>) {
        let (streams, numbers) = (&self.streams, &mut self.numbers);
        let ours = streams.ours.unwrap_or(Ssrc(9));
        let step = match kind {
            // At least as wide as the largest gap that is passed on.
            Kind::Jumps if rng.chance(0.5) => 1_000,
            Kind::Jumps => 8_000,
            _ => 1,
        };
        numbers.transport = numbers.transport.wrapping_add(step);
        numbers.path = numbers.path.wrapping_add(step);
        // The attacker's own SRTP needs them within its window.
        numbers.sequence = numbers.sequence.wrapping_add(step);
        let numbers = *numbers;
        match kind {
            Kind::Runs => (true, streams.runs(numbers.sequence, rng.chance(0.3))),
            Kind::Nacks => (true, streams.nacks(rng.next_u32() as u16, 290)),
            Kind::Messages => (true, streams.messages()),
            Kind::Keyframes => (true, streams.picture_loss()),
            Kind::Goodbyes if rng.chance(0.2) => (true, streams.goodbye()),
            Kind::Sources => (false, streams.media(Ssrc(rng.next_u32()), numbers, 20)),
            Kind::Garbage => {
                let (is_rtcp, packet) = streams.garbage(rng, numbers);
                (is_rtcp, packet)
            }
            Kind::Floods => (false, streams.media(ours, numbers, 1_100)),
            Kind::Crumbs => (false, streams.media(ours, numbers, 0)),
            _ => (false, streams.media(ours, numbers, 20)),
        }
    }
}

/// Reads the server's parameters from its answer.
fn remote(answer: &SessionDescription) -> Remote {
    let media = &answer.media[0];
    let fingerprint = media.fingerprint.as_ref().map(ToString::to_string);
    Remote {
        credentials: weft_ice::Credentials {
            ufrag: media.ice_ufrag.clone().unwrap_or_default(),
            pwd: media.ice_pwd.clone().unwrap_or_default(),
        },
        fingerprint: fingerprint
            .and_then(|text| text.parse().ok())
            .expect("the server has a fingerprint"),
        dtls: match media.setup {
            Some(Setup::Passive) => DtlsRole::Client,
            _ => DtlsRole::Server,
        },
        candidates: vec![RemoteCandidate {
            addr: SERVER,
            priority: 1,
        }],
    }
}

fn streams(offer: &SessionDescription, answer: &SessionDescription) -> Streams {
    let (offer, answer) = (&offer.media[0], &answer.media[0]);
    Streams {
        ours: offer.primary_ssrcs().first().copied(),
        theirs: answer.primary_ssrcs().first().copied(),
        payload_type: answer.payloads.first().map_or(96, |p| p.payload_type),
        extensions: ExtensionMap::from_negotiated(&answer.extensions),
    }
}
