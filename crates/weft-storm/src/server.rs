//! Server without sockets: its media planes, its rooms, and a processor that takes time
//! for each input.

mod moderation;
mod planes;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::IpAddr;

use weft_forwarding::{Event, MediaError, Plane, Publisher, ResourceId, Sound};
use weft_peer::Entropy;
use weft_rooms::{Change, Proof, Publishing, Registry};
use weft_units::{Duration, Ecn, FiveTuple, Instant};
use weft_wire::rtcp;

use crate::network::Datagram;
use crate::processor::{Load, Processor, Work};
pub use planes::{Budgets, Planes, Sent};

/// Room of a run.
pub const ROOM: &str = "storm";

/// Receive buffer of the socket, in bytes: the size that `weft-net` requests.
const INBOX: usize = 4 << 20;

/// Maximum number of media connections, as `weft serve` has by default.
pub const MOST_CONNECTIONS: usize = 2_000;

/// Purpose of a resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    Publish,
    Play,
    /// Receives the whole room.
    Receive,
}

/// Media connection as signalling knows it.
#[derive(Clone, Debug)]
pub struct Resource {
    pub role: Role,
    /// Participant who publishes, also for a player; for a reception, the receiver.
    pub publisher: String,
    /// Index of its plane.
    plane: usize,
    published: Publishing,
    number: u64,
    connected: bool,
}

impl Resource {
    fn is_published_by(&self, participant: &str) -> bool {
        self.role == Role::Publish && self.publisher == participant
    }
}

/// Participant who requests a connection.
#[derive(Clone, Copy, Debug)]
pub struct Requester<'a> {
    pub by: IpAddr,
    /// Id in the room.
    pub id: &'a str,
    pub proof: Proof,
}

impl<'a> Requester<'a> {
    /// Participant without its own secret.
    pub fn plain(by: IpAddr, id: &'a str) -> Requester<'a> {
        let proof = Proof([0; 32]);
        Requester { by, id, proof }
    }
}

/// Reason for a refusal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The media plane refused.
    Media(MediaError),
    /// The server has the maximum number of connections.
    Full,
    /// The room refused.
    Room,
}

/// Running server.
///
/// Rooms and planes are real. In the product, the hub of `weft-server` connects them; its
/// names come from the system's randomness and its requests arrive over HTTP, so its
/// steps are repeated here.
pub struct Server {
    pub planes: Planes,
    pub rooms: Registry,
    pub resources: BTreeMap<ResourceId, Resource>,
    opened: u64,
    inbox: VecDeque<Datagram>,
    inbox_bytes: usize,
    pub processor: Processor,
    /// Datagrams to send.
    pub outbox: VecDeque<Sent>,
    /// Connections that ended by themselves since the last call.
    pub ended: Vec<(ResourceId, String)>,
    /// Events of receptions and publications since the last call.
    pub told: Vec<Event>,
    /// Participants whom a moderator has muted, and those who were removed.
    muted: BTreeSet<String>,
    removed: BTreeSet<String>,
    is_recording: bool,
    /// Number of datagrams dropped because the socket's buffer was full.
    pub overrun: u64,
}

impl Server {
    pub fn new(planes: Planes, processor: Processor) -> Server {
        Server {
            planes,
            rooms: Registry::new(Default::default()),
            resources: BTreeMap::new(),
            opened: 0,
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            processor,
            outbox: VecDeque::new(),
            ended: Vec::new(),
            told: Vec::new(),
            muted: BTreeSet::new(),
            removed: BTreeSet::new(),
            is_recording: false,
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
            true => self.planes.poll_timeout(),
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
            let at = self.planes.socket_of(datagram.from);
            self.work(now, Load::Datagram(by), at, |plane| {
                let Datagram { from, to, bytes } = &datagram;
                plane.handle_datagram(now, FiveTuple::udp(*to, *from), Ecn::NotEct, bytes);
            });
        }
        for at in 0..self.planes.count() {
            if self.processor.free_at <= now && self.planes.is_due(now, at) {
                self.work(now, Load::Timeout, at, |plane| plane.handle_timeout(now));
            }
        }
        self.rooms.handle_timeout(now);
        self.tell_rooms(now);
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
        who: Requester<'_>,
        offer: &str,
        entropy: &Entropy,
    ) -> Result<(ResourceId, String), Refusal> {
        let (by, participant) = (who.by, who.id);
        let proof = Some(who.proof);
        let inside = self.rooms.check_inside(ROOM, participant, proof);
        inside.map_err(|_| Refusal::Room)?;
        let held = self.rooms.hold(ROOM, participant, proof);
        held.map_err(|_| Refusal::Room)?;
        let (resource, at) = self.open(Role::Publish, participant)?;
        let agreed = self.work(now, Load::Request(by), at, |plane| {
            let who = publisher(participant);
            plane.publish(now, resource.clone(), who, offer, entropy)
        });
        match agreed {
            Ok(agreed) => {
                if let Some(found) = self.resources.get_mut(&resource) {
                    found.published = agreed.streams;
                }
                self.processor.hand_over(agreed.sdp.capacity());
                Ok((resource, agreed.sdp))
            }
            Err(error) => {
                self.close(now, &resource);
                Err(Refusal::Media(error))
            }
        }
    }

    /// Plays a participant's publication; returns the resource and our answer.
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
        let (resource, at) = self.open(Role::Play, participant)?;
        let agreed = self.work(now, Load::Request(by), at, |plane| {
            let who = publisher(participant);
            plane.play(now, resource.clone(), who, Some(offer), entropy)
        });
        match agreed {
            Ok(agreed) => {
                self.processor.hand_over(agreed.sdp.capacity());
                Ok((resource, agreed.sdp))
            }
            Err(error) => {
                self.close(now, &resource);
                Err(Refusal::Media(error))
            }
        }
    }

    /// Ends a connection on request.
    pub fn close(&mut self, now: Instant, resource: &ResourceId) {
        let Some(gone) = self.resources.remove(resource) else {
            return;
        };
        self.work(now, Load::Timeout, gone.plane, |plane| {
            plane.close(now, resource);
        });
        if gone.role == Role::Publish {
            self.show_publishing(&gone.publisher);
            self.rooms.finish(now, ROOM, &gone.publisher);
        }
        self.tell_rooms(now);
    }

    /// Causes a defect in the plane's work for this connection.
    pub fn fail(&mut self, now: Instant, resource: &ResourceId) {
        if let Some(at) = self.resources.get(resource).map(|r| r.plane) {
            self.work(now, Load::Timeout, at, |plane| plane.fail(now, resource));
        }
    }

    /// Answers a request for the server's statistics.
    pub fn ask_for_figures(&mut self, now: Instant, by: IpAddr) {
        for at in 0..self.planes.count() {
            self.work(now, Load::Request(by), at, |plane| plane.stats());
        }
    }

    /// Returns the participant with this name if it publishes at present.
    pub fn published_by(&self, name: &str) -> Option<String> {
        let mut all = self.rooms.participants(ROOM).into_iter();
        let found = all.find(|p| p.name == name && !p.publishing.is_nothing());
        found.map(|p| p.id.clone())
    }

    /// Names a connection and chooses its plane: that of the participant's other
    /// connections, or the next one.
    fn open(&mut self, role: Role, participant: &str) -> Result<(ResourceId, usize), Refusal> {
        if self.resources.len() >= MOST_CONNECTIONS {
            return Err(Refusal::Full);
        }
        self.opened += 1;
        let id = ResourceId(format!("resource {:06}", self.opened));
        let own = |r: &&Resource| {
            r.publisher == participant && role != Role::Play && r.role != Role::Play
        };
        let own = self.resources.values().find(own).map(|r| r.plane);
        let plane = own.unwrap_or(self.opened as usize % self.planes.count());
        let resource = Resource {
            role,
            publisher: participant.to_owned(),
            plane,
            published: Publishing::default(),
            number: self.opened,
            connected: false,
        };
        self.resources.insert(id.clone(), resource);
        Ok((id, plane))
    }

    /// Drives a plane and handles the outputs of all, at the processor's expense.
    fn work<R>(
        &mut self,
        now: Instant,
        load: Load,
        at: usize,
        call: impl FnOnce(&mut Plane) -> R,
    ) -> R {
        let mut work = Work::begin(load, self.processor.pace);
        let done = self.planes.drive(at, &mut work, call);
        let events = self.planes.settle(now, at, &mut work, &mut self.outbox);
        self.processor.account(now, &work);
        for event in events {
            self.on_event(now, event);
        }
        done
    }

    /// Replaces a plane that has failed: its connections have ended.
    fn lose_plane(&mut self, now: Instant, at: usize) {
        let mut work = Work::begin(Load::Timeout, self.processor.pace);
        let outbox = &mut self.outbox;
        let mut events = self.planes.replace(now, at, &mut work, outbox);
        self.processor.account(now, &work);
        let lost = self.resources.iter().filter(|(_, r)| r.plane == at);
        events.extend(lost.map(|(resource, _)| Event::Ended {
            resource: resource.clone(),
            reason: "its plane has failed".to_owned(),
        }));
        for event in events {
            self.on_event(now, event);
        }
    }

    fn on_event(&mut self, now: Instant, event: Event) {
        match event {
            told @ (Event::LinesChanged { .. }
            | Event::Offered { .. }
            | Event::WantedChanged { .. }) => self.told.push(told),
            Event::Connected { resource } => {
                let Some(found) = self.resources.get_mut(&resource) else {
                    return;
                };
                found.connected = true;
                let new = found.clone();
                if new.role != Role::Publish {
                    return;
                }
                let earlier = self.resources.iter().filter(|(_, old)| {
                    old.is_published_by(&new.publisher) && old.number < new.number
                });
                let earlier = earlier.map(|(id, old)| (id.clone(), old.plane));
                for (old, at) in earlier.collect::<Vec<_>>() {
                    self.resources.remove(&old);
                    self.rooms.release(now, ROOM, &new.publisher);
                    self.work(now, Load::Timeout, at, |plane| plane.close(now, &old));
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

    /// Mutes or unmutes a participant on all planes.
    fn set_sound(&mut self, now: Instant, id: &str, sound: Sound) {
        for at in 0..self.planes.count() {
            self.work(now, Load::Timeout, at, |plane| {
                plane.set_sound(now, &publisher(id), sound);
            });
        }
    }

    fn show_publishing(&mut self, participant: &str) {
        let all = self.resources.values();
        let mut connected = all.filter(|r| r.is_published_by(participant) && r.connected);
        let shown = connected.next_back().map(|r| r.published.clone());
        // A participant who has left publishes nothing, which is not an error.
        let _ = self
            .rooms
            .set_publishing(ROOM, participant, shown.unwrap_or_default());
    }

    /// Closes the connections of participants who left, and those of their players.
    fn tell_rooms(&mut self, now: Instant) {
        while let Some(event) = self.rooms.poll_output() {
            let (Change::Left { id } | Change::Withdrawn { id }) = event.change else {
                continue;
            };
            if self.muted.remove(&id) {
                self.set_sound(now, &id, Sound::Forwarded);
            }
            let gone = self.resources.iter().filter(|(_, r)| r.publisher == id);
            let gone = gone.map(|(id, r)| (id.clone(), r.plane));
            for (resource, at) in gone.collect::<Vec<_>>() {
                self.resources.remove(&resource);
                self.work(now, Load::Timeout, at, |plane| plane.close(now, &resource));
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
