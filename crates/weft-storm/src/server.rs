//! The server without sockets: its media plane, its rooms, and a processor that takes
//! time for each input.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

use weft_forwarding::{Event, MediaError, Output, Plane, Publisher, ResourceId, Settings};
use weft_peer::{Entropy, PeerKey};
use weft_rooms::{Change, Join, Joined, ParticipantKind, Proof, Publishing, Registry, Standing};
use weft_units::{Duration, Ecn, FiveTuple, Instant};
use weft_wire::rtcp;

use crate::network::{Datagram, SERVER};
use crate::processor::{Load, Processor, Work};

/// Room of a run.
pub const ROOM: &str = "storm";

/// Receive buffer of the socket, in bytes: the size that `weft-net` requests.
const INBOX: usize = 4 << 20;

/// Most media connections, as `weft serve` has by default.
pub const MOST_CONNECTIONS: usize = 2_000;

/// Purpose of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Publish,
    Play,
}

/// Media connection as signalling knows it.
#[derive(Clone, Debug)]
pub struct Resource {
    pub role: Role,
    /// Participant who publishes, also for a player.
    pub publisher: String,
    published: Publishing,
    number: u64,
    connected: bool,
}

/// Reason of a refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The media plane refused.
    Media(MediaError),
    /// The server has as many connections as it may.
    Full,
    /// The room refused.
    Room,
}

/// Datagram to send, and the peer that it is for.
pub struct Sent {
    pub peer: PeerKey,
    pub datagram: Datagram,
}

/// Running server.
///
/// Rooms and plane are real. `weft-server`'s hub joins them in the product; its names
/// come from the system's randomness and its requests over HTTP, so its steps are
/// repeated here.
pub struct Server {
    pub plane: Plane,
    pub rooms: Registry,
    pub resources: BTreeMap<ResourceId, Resource>,
    opened: u64,
    inbox: VecDeque<Datagram>,
    inbox_bytes: usize,
    pub processor: Processor,
    /// Datagrams to send.
    pub outbox: VecDeque<Sent>,
    /// Connections that ended by themselves since the last look.
    pub ended: Vec<(ResourceId, String)>,
    /// Number of datagrams that found the socket's buffer full.
    pub overrun: u64,
}

impl Server {
    pub fn new(settings: Settings, processor: Processor) -> Server {
        Server {
            plane: Plane::new(settings),
            rooms: Registry::new(Default::default()),
            resources: BTreeMap::new(),
            opened: 0,
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            processor,
            outbox: VecDeque::new(),
            ended: Vec::new(),
            overrun: 0,
        }
    }

    /// Receives a datagram.
    pub fn receive(&mut self, datagram: Datagram) {
        let size = datagram.bytes.len();
        if self.inbox_bytes + size > INBOX {
            self.overrun += 1;
            return;
        }
        self.inbox_bytes += size;
        self.inbox.push_back(datagram);
    }

    /// Returns the time of the next work.
    pub fn poll_timeout(&self) -> Option<Instant> {
        let free = self.processor.free_at;
        let next = match self.inbox.is_empty() {
            false => Some(Instant::ZERO),
            true => self.plane.poll_timeout().map(|d| d.at),
        };
        let rooms = self.rooms.poll_timeout().map(|d| d.at);
        next.into_iter().chain(rooms).min().map(|at| at.max(free))
    }

    /// Works until the processor is busy beyond `now`.
    pub fn run(&mut self, now: Instant) {
        while self.processor.free_at <= now
            && let Some(datagram) = self.inbox.pop_front()
        {
            self.inbox_bytes -= datagram.bytes.len();
            let by = datagram.from.ip();
            self.work(now, Load::Datagram(by), |plane| {
                let Datagram { from, to, bytes } = &datagram;
                plane.handle_datagram(now, FiveTuple::udp(*to, *from), Ecn::NotEct, bytes);
            });
        }
        if self.processor.free_at <= now && self.plane.poll_timeout().is_some_and(|d| d.at <= now) {
            self.work(now, Load::Timeout, |plane| plane.handle_timeout(now));
        }
        self.rooms.handle_timeout(now);
        self.tell_rooms(now);
    }

    /// Joins the room; returns the id of the participant.
    pub fn join(&mut self, now: Instant, name: &str) -> Result<String, Refusal> {
        self.opened += 1;
        let fresh_id = format!("participant {:06}", self.opened);
        let joined = self.rooms.join(Join {
            room: ROOM,
            name,
            kind: ParticipantKind::Native,
            standing: Standing::Host,
            id: None,
            proof: None,
            fresh: Proof([0; 32]),
            fresh_id: &fresh_id,
        });
        let id = joined.map(Joined::into_id).map_err(|_| Refusal::Room)?;
        self.tell_rooms(now);
        Ok(id)
    }

    /// Ends the event stream of a participant.
    pub fn release(&mut self, now: Instant, participant: &str) {
        self.rooms.release(now, ROOM, participant);
        self.tell_rooms(now);
    }

    /// Publishes for a participant; returns the resource and our answer.
    pub fn publish(
        &mut self,
        now: Instant,
        by: IpAddr,
        participant: &str,
        offer: &str,
        entropy: &Entropy,
    ) -> Result<(ResourceId, String), Refusal> {
        let held = self.rooms.hold(ROOM, participant, Some(Proof([0; 32])));
        held.map_err(|_| Refusal::Room)?;
        let resource = self.open(Role::Publish, participant)?;
        let agreed = self.work(now, Load::Request(by), |plane| {
            let who = publisher(participant);
            plane.publish(now, resource.clone(), who, offer, entropy)
        });
        match agreed {
            Ok(agreed) => {
                if let Some(found) = self.resources.get_mut(&resource) {
                    found.published = agreed.streams;
                }
                Ok((resource, agreed.sdp))
            }
            Err(error) => {
                self.close(now, &resource);
                Err(Refusal::Media(error))
            }
        }
    }

    /// Plays what a participant publishes; returns the resource and our answer.
    pub fn play(
        &mut self,
        now: Instant,
        by: IpAddr,
        participant: &str,
        offer: &str,
        entropy: &Entropy,
    ) -> Result<(ResourceId, String), Refusal> {
        let nothing = Refusal::Media(MediaError::NothingPublished);
        let found = self
            .rooms
            .find(ROOM, participant)
            .map_err(|_| Refusal::Room)?;
        if found.publishing.is_nothing() {
            return Err(nothing);
        }
        let resource = self.open(Role::Play, participant)?;
        let agreed = self.work(now, Load::Request(by), |plane| {
            let who = publisher(participant);
            plane.play(now, resource.clone(), who, Some(offer), entropy)
        });
        match agreed {
            Ok(agreed) => Ok((resource, agreed.sdp)),
            Err(error) => {
                self.close(now, &resource);
                Err(Refusal::Media(error))
            }
        }
    }

    /// Ends a connection on request.
    pub fn close(&mut self, now: Instant, resource: &ResourceId) {
        self.work(now, Load::Timeout, |plane| plane.close(now, resource));
        if let Some(gone) = self.resources.remove(resource)
            && gone.role == Role::Publish
        {
            self.show_publishing(&gone.publisher);
            self.rooms.finish(now, ROOM, &gone.publisher);
        }
        self.tell_rooms(now);
    }

    /// Causes a defect in the plane's work for this connection.
    pub fn fail(&mut self, now: Instant, resource: &ResourceId) {
        self.work(now, Load::Timeout, |plane| plane.fail(now, resource));
    }

    /// Answers a request for the server's figures.
    pub fn ask_for_figures(&mut self, now: Instant, by: IpAddr) {
        self.work(now, Load::Request(by), |plane| plane.stats());
    }

    /// Returns the participant of this name if it publishes now.
    pub fn published_by(&self, name: &str) -> Option<String> {
        let mut all = self.rooms.participants(ROOM).into_iter();
        let found = all.find(|p| p.name == name && !p.publishing.is_nothing());
        found.map(|p| p.id.clone())
    }

    fn open(&mut self, role: Role, participant: &str) -> Result<ResourceId, Refusal> {
        if self.resources.len() >= MOST_CONNECTIONS {
            return Err(Refusal::Full);
        }
        self.opened += 1;
        let id = ResourceId(format!("resource {:06}", self.opened));
        let resource = Resource {
            role,
            publisher: participant.to_owned(),
            published: Publishing::default(),
            number: self.opened,
            connected: false,
        };
        self.resources.insert(id.clone(), resource);
        Ok(id)
    }

    /// Drives the plane and takes its outputs, at the processor's expense.
    fn work<R>(&mut self, now: Instant, load: Load, call: impl FnOnce(&mut Plane) -> R) -> R {
        let mut work = Work::begin(load, self.processor.pace);
        let done = work.part(|| call(&mut self.plane));
        let mut events = Vec::new();
        while let Some(output) = work.part(|| self.plane.poll_output()) {
            match output {
                Output::Event(event) => events.push(event),
                // The server has one plane.
                Output::Relay { .. } => {}
                // Nothing is recorded.
                Output::Record(_) => {}
                Output::Transmit {
                    peer,
                    tuple,
                    datagram,
                    ..
                } => {
                    debug_assert_eq!(tuple.local, SERVER);
                    work.sent(datagram.len());
                    let copy = Datagram {
                        from: tuple.local,
                        to: tuple.remote,
                        bytes: datagram.clone(),
                    };
                    work.part(|| self.plane.recycle(peer, datagram));
                    self.outbox.push_back(Sent {
                        peer,
                        datagram: copy,
                    });
                }
            }
        }
        self.processor.account(now, &work);
        for event in events {
            self.on_event(now, event);
        }
        done
    }

    fn on_event(&mut self, now: Instant, event: Event) {
        match event {
            // Nobody receives a whole room here.
            Event::LinesChanged { .. } | Event::Offered { .. } | Event::WantedChanged { .. } => {}
            Event::Connected { resource } => {
                let Some(found) = self.resources.get_mut(&resource) else {
                    return;
                };
                found.connected = true;
                let new = found.clone();
                if new.role == Role::Play {
                    return;
                }
                let earlier = self.resources.iter().filter(|(_, old)| {
                    old.role == Role::Publish
                        && old.publisher == new.publisher
                        && old.number < new.number
                });
                for old in earlier.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
                    self.resources.remove(&old);
                    self.rooms.release(now, ROOM, &new.publisher);
                    self.work(now, Load::Timeout, |plane| plane.close(now, &old));
                }
                self.show_publishing(&new.publisher);
            }
            Event::Ended { resource, reason } => {
                if let Some(gone) = self.resources.remove(&resource)
                    && gone.role == Role::Publish
                {
                    self.show_publishing(&gone.publisher);
                    self.rooms.release(now, ROOM, &gone.publisher);
                }
                self.ended.push((resource, reason));
            }
        }
        self.tell_rooms(now);
    }

    fn show_publishing(&mut self, participant: &str) {
        let all = self.resources.values();
        let mut connected =
            all.filter(|r| r.role == Role::Publish && r.publisher == participant && r.connected);
        let shown = connected.next_back().map(|r| r.published.clone());
        // Somebody who is gone publishes nothing: no error.
        let _ = self
            .rooms
            .set_publishing(ROOM, participant, shown.unwrap_or_default());
    }

    /// Closes the connections of participants who left, and those of their players.
    fn tell_rooms(&mut self, now: Instant) {
        while let Some(event) = self.rooms.poll_output() {
            let Change::Left { id } = event.change else {
                continue;
            };
            let gone = self.resources.iter().filter(|(_, r)| r.publisher == id);
            for resource in gone.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
                self.resources.remove(&resource);
                self.work(now, Load::Timeout, |plane| plane.close(now, &resource));
            }
        }
    }
}

/// Whether a datagram is media, not ICE or DTLS (RFC 7983 section 7).
pub fn is_media(datagram: &[u8]) -> bool {
    matches!(datagram, [128..=191, ..])
}

/// Whether media is RTCP.
pub fn is_rtcp(datagram: &[u8]) -> bool {
    is_media(datagram) && rtcp::is_rtcp(datagram)
}

fn publisher(participant: &str) -> Publisher {
    Publisher {
        room: ROOM.to_owned(),
        participant: participant.to_owned(),
    }
}

/// Lifetime of consent (RFC 7675 section 5.1).
pub const CONSENT: Duration = Duration::from_secs(30);
