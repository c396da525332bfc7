//! Conference: people as complete peers, and the servers between them as in the product.
//!
//! All groups of a run meet in one room, so they are one flow here. Datagrams are
//! complete and have their real sizes. Handshake and encryption are left out
//! ([`weft_secure::Keying::Plain`]), and requests to the server take no time.

mod addresses;
mod camera;
mod in_flight;
mod parts;
mod person;
mod pulls;
mod server;
mod stamp;
mod tiles;
mod viewer;

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::ops::Range;
use std::sync::Arc;

use weft_experiment::{ConferenceRecord, FlowDetail};
use weft_forwarding::{Event as PlaneEvent, Line, Output as PlaneOutput, ResourceId, View};
use weft_peer::Output as PeerOutput;
use weft_units::{Duration, Ecn, FiveTuple, Instant, Rng};

use super::call::UDP_IP;
use super::flow::{Flow, Legs, Span};
use crate::event_queue::Slot;
use crate::network::{Network, Owner};
use crate::packet::{Body, Packet};
use addresses::Place;
use in_flight::{Datagram, InFlight, Sender};
pub(crate) use parts::{Group, Interconnect};
use person::{Connected, Connection, Person, Seat};
use server::Servers;

/// Time for which a person speaks before the next one does. Chosen by us.
const TURN: Duration = Duration::from_secs(10);

/// Timers: of the turns, then of each person, and then of each server.
const TURN_TIMER: usize = 0;
const FIRST_PERSON: usize = 1;

pub(crate) struct ConferenceFlow {
    /// Routes of all people, from the server to a person and back, and then the routes
    /// between servers.
    legs: Vec<Legs>,
    in_flight: InFlight,
    servers: Servers,
    people: Vec<Person>,
    /// Numbers of the people by name.
    numbers: BTreeMap<String, usize>,
    /// People of each group.
    groups: Vec<Range<usize>>,
    /// People who may have output.
    touched: VecDeque<usize>,
    slots: Vec<Slot>,
    /// Current and previous speaker: the previous one is large on the current speaker's
    /// own screen.
    speakers: [Option<usize>; 2],
    turns: Rng,
    /// Whether people have joined or left, or the speaker has changed.
    is_changed: bool,
}

impl ConferenceFlow {
    /// Creates the conference of these groups; `index` is the number of its timers'
    /// owner.
    pub fn new(
        index: usize,
        (groups, interconnects): (&[Group<'_>], &[Interconnect<'_>]),
        rng: &Rng,
        network: &mut Network,
    ) -> ConferenceFlow {
        let people_routes = groups.iter().map(|group| group.legs.len()).sum();
        let mut conference = ConferenceFlow {
            legs: Vec::new(),
            in_flight: InFlight::default(),
            servers: Servers::new(groups, interconnects, people_routes, rng),
            people: Vec::new(),
            numbers: BTreeMap::new(),
            groups: Vec::new(),
            touched: VecDeque::new(),
            slots: Vec::new(),
            speakers: [None; 2],
            turns: rng.stream("turns"),
            is_changed: false,
        };
        for group in groups {
            conference.add(group);
        }
        let between = interconnects.iter().flat_map(|between| &between.legs);
        conference.legs.extend(between);
        let timers = FIRST_PERSON + conference.people.len() + conference.servers.all.len();
        let slot = |key| network.add_slot(Owner::Flow(index, key as u32));
        conference.slots = (0..timers).map(slot).collect();
        network.set_timer(conference.slots[TURN_TIMER], Some(Instant::ZERO + TURN));
        for number in 0..conference.people.len() {
            conference.set_person_timer(Instant::ZERO, number, network);
        }
        conference
    }

    fn add(&mut self, group: &Group<'_>) {
        let setup = Arc::new(group.setup.clone());
        let (first, span) = (self.people.len(), Span::of(group.flow));
        for place in 0..setup.people {
            let name = match setup.people {
                1 => group.flow.name.clone(),
                _ => format!("{}-{}", group.flow.name, place + 1),
            };
            let mut rng = group.rng.stream(&format!("person {place}"));
            let own = place * setup.routes_each..(place + 1) * setup.routes_each;
            let routes = self.legs.len() + own.start..self.legs.len() + own.end;
            let number = self.people.len();
            let policies = group.flow.routes[own].iter().map(|route| route.policy);
            let seat = Seat {
                name: name.clone(),
                number,
                routes,
                policies: policies.collect(),
                joins_at: span.start + setup.joining.mul_f64(rng.unit()),
                leaves_at: span.stop,
                rng,
            };
            self.people.push(Person::new(seat, &setup));
            self.numbers.insert(name, number);
        }
        self.legs.extend(&group.legs);
        self.groups.push(first..self.people.len());
    }

    /// Joins, or replaces the connections that have ended.
    fn join(&mut self, now: Instant, number: usize) {
        let person = &mut self.people[number];
        person.joins_at = None;
        for of in Connection::BOTH {
            let person = &self.people[number];
            if !person.lacks(of) {
                continue;
            }
            let connected = match of {
                Connection::Publication => self.servers.of(number).publish(now, person),
                Connection::Reception => self.servers.of(number).receive(now, person),
            };
            let person = &mut self.people[number];
            match connected {
                Some((resource, peer)) => {
                    person.connect(now, of, Connected::new(resource, peer));
                }
                // The server rejected the connection.
                None => drop(person.disconnect(now, of)),
            }
        }
        self.arrange(now, number);
        self.servers.pulls.is_due = true;
        self.touched.push_back(number);
    }

    /// Ends a connection on both sides.
    fn disconnect(&mut self, now: Instant, number: usize, of: Connection) {
        if let Some(connected) = self.people[number].disconnect(now, of) {
            let plane = &mut self.servers.of(number).plane;
            plane.close(now, &connected.resource);
        }
        self.on_ended(number);
        self.is_changed = true;
        self.touched.push_back(number);
    }

    fn leave(&mut self, now: Instant, number: usize, network: &mut Network) {
        for mut connected in self.people[number].leave() {
            connected.peer.close(now);
            while let Some(output) = connected.peer.poll_output() {
                if let PeerOutput::Transmit {
                    tuple,
                    ecn,
                    datagram,
                } = output
                {
                    let sender = Sender::Gone;
                    let datagram = Datagram::new(sender, tuple, datagram);
                    self.send(now, datagram, ecn, network);
                }
            }
            let plane = &mut self.servers.of(number).plane;
            plane.close(now, &connected.resource);
        }
        self.on_ended(number);
        self.people[number].viewer.arrange(now, std::iter::empty());
        self.is_changed = true;
    }

    /// Notifies the servers that a connection of a person has ended.
    fn on_ended(&mut self, number: usize) {
        let person = &self.people[number];
        if person.connection(Connection::Publication).is_none() {
            self.servers.pulls.on_unpublished(&person.name);
        }
        self.servers.pulls.is_due = true;
    }

    /// Lets another person speak, among those who are present and publish.
    fn take_turns(&mut self, now: Instant, network: &mut Network) {
        network.set_timer(self.slots[TURN_TIMER], Some(now + TURN));
        let present = |(_, person): &(usize, &Person)| person.is_seen();
        let people = self.people.iter().enumerate().filter(present);
        let others = people
            .map(|(number, _)| number)
            .filter(|n| Some(*n) != self.speakers[0]);
        let others: Vec<usize> = others.collect();
        if !others.is_empty() {
            let next = others[self.turns.below(others.len() as u64) as usize];
            self.speakers = [Some(next), self.speakers[0]];
            self.is_changed = true;
        }
    }

    /// Sends everybody's screen layout to the server.
    fn arrange_all(&mut self, now: Instant) {
        self.is_changed = false;
        for viewer in 0..self.people.len() {
            self.arrange(now, viewer);
        }
    }

    /// Sends one person's screen layout to the server.
    fn arrange(&mut self, now: Instant, viewer: usize) {
        let Some(reception) = self.people[viewer].connection(Connection::Reception) else {
            return;
        };
        let resource = reception.resource.clone();
        let (others, cameras) = tiles::on_screen(&self.people, viewer, self.speakers);
        let names = cameras.iter().map(|camera| camera.participant.as_str());
        let shown = others.iter().map(|other| *other as u32).zip(names);
        self.people[viewer].viewer.arrange(now, shown);
        let server = self.servers.of(viewer);
        server.set_view(now, &resource, View { cameras });
    }

    /// Carries out the requests of servers and people, until none is left.
    fn settle(&mut self, now: Instant, network: &mut Network) {
        loop {
            if self.is_changed {
                self.arrange_all(now);
            }
            if self.servers.pulls.is_due {
                self.servers.look(now, &self.people);
            }
            while let Some((server, output)) = self.servers.poll_output() {
                match output {
                    PlaneOutput::Transmit {
                        peer,
                        tuple,
                        ecn,
                        datagram,
                    } => {
                        let sender = Sender::Server(server, peer);
                        let datagram = Datagram::new(sender, tuple, datagram);
                        self.send(now, datagram, ecn, network);
                    }
                    PlaneOutput::Event(event) => self.on_plane_event(now, event),
                    // Each server has one plane, and nothing is recorded or captured.
                    _ => {}
                }
            }
            let Some(number) = self.touched.pop_front() else {
                if self.is_changed || self.servers.pulls.is_due {
                    continue;
                }
                break;
            };
            self.drain(now, number, network);
        }
        let first = FIRST_PERSON + self.people.len();
        for (slot, server) in self.slots[first..].iter().zip(&mut self.servers.all) {
            if std::mem::take(&mut server.is_touched) {
                let due = server.plane.poll_timeout().map(|d| d.at.max(now));
                network.set_timer(*slot, due);
            }
        }
    }

    /// Carries out the requests of a person's peers, and sets the time of the next call.
    fn drain(&mut self, now: Instant, number: usize, network: &mut Network) {
        for of in Connection::BOTH {
            let connected = self.people[number].connection(of);
            if connected.is_none_or(|connected| !connected.is_touched) {
                continue;
            }
            let mut has_failed = false;
            while let Some(connected) = self.people[number].connection_mut(of)
                && let Some(output) = connected.peer.poll_output()
            {
                match output {
                    PeerOutput::Transmit {
                        tuple,
                        ecn,
                        datagram,
                    } => {
                        let sender = Sender::Person(number, of);
                        let datagram = Datagram::new(sender, tuple, datagram);
                        self.send(now, datagram, ecn, network);
                    }
                    PeerOutput::Event(event) => {
                        let was_seen = self.people[number].is_seen();
                        has_failed |= self.people[number].on_event(now, of, event);
                        self.is_changed |= was_seen != self.people[number].is_seen();
                    }
                }
            }
            if has_failed {
                self.disconnect(now, number, of);
            } else if let Some(connected) = self.people[number].connection_mut(of) {
                connected.settle();
            }
        }
        self.set_person_timer(now, number, network);
    }

    fn set_person_timer(&mut self, now: Instant, number: usize, network: &mut Network) {
        let due = self.people[number].poll_timeout().map(|at| at.max(now));
        network.set_timer(self.slots[FIRST_PERSON + number], due);
    }

    fn on_plane_event(&mut self, now: Instant, event: PlaneEvent) {
        match event {
            PlaneEvent::Connected { resource } => {
                if let Some((number, Connection::Publication)) = self.owner(&resource) {
                    self.servers.on_published(number, &self.people[number]);
                }
            }
            PlaneEvent::Ended { resource, .. } => match self.owner(&resource) {
                Some((number, of)) => self.disconnect(now, number, of),
                None => self.servers.pulls.on_ended(&resource),
            },
            PlaneEvent::LinesChanged { resource, lines } => self.on_lines(now, &resource, &lines),
            PlaneEvent::Offered { resource, sdp } => self.on_offer(now, &resource, &sdp),
            PlaneEvent::WantedChanged { resource, cameras } => {
                if let Some((number, _)) = self.owner(&resource) {
                    self.people[number].set_wanted(&cameras);
                }
            }
        }
    }

    fn on_lines(&mut self, now: Instant, resource: &ResourceId, lines: &[Line]) {
        if let Some((number, _)) = self.owner(resource) {
            self.people[number].viewer.set_lines(now, lines);
        }
    }

    /// Answers an offer of more lines.
    fn on_offer(&mut self, now: Instant, resource: &ResourceId, offer: &str) {
        let Some((number, of)) = self.owner(resource) else {
            return;
        };
        let person = &mut self.people[number];
        let offer = server::as_known(person.setup.level, offer.to_owned());
        let answer = person.connection_mut(of).and_then(|connected| {
            connected.is_touched = true;
            connected.peer.answer(now, &offer).ok()
        });
        if let Some(answer) = answer {
            // A connection that has just ended does not accept an answer.
            let plane = &mut self.servers.of(number).plane;
            let _ = plane.accept(now, resource.clone(), &answer);
        }
        self.touched.push_back(number);
    }

    /// Returns the person and the connection with this name.
    fn owner(&self, resource: &ResourceId) -> Option<(usize, Connection)> {
        let (name, _) = resource.0.rsplit_once(' ')?;
        let (name, _) = name.rsplit_once(' ')?;
        let number = *self.numbers.get(name)?;
        let is = |of: &Connection| {
            let connected = self.people[number].connection(*of);
            connected.is_some_and(|connected| connected.resource == *resource)
        };
        Some((number, Connection::BOTH.into_iter().find(is)?))
    }

    /// Sends a datagram over the route between its ends.
    fn send(&mut self, now: Instant, datagram: Datagram, ecn: Ecn, network: &mut Network) {
        let Some(leg) = addresses::leg(&self.legs, datagram.from, datagram.to) else {
            return;
        };
        let size = datagram.bytes.len() + UDP_IP;
        let size = u16::try_from(size).unwrap_or(u16::MAX);
        let body = Body::Datagram(self.in_flight.keep(datagram));
        network.send(now, leg, 0, size, ecn, body);
    }

    /// Returns a datagram's memory to its sender.
    fn recycle(&mut self, datagram: Datagram) {
        match datagram.sender {
            Sender::Server(server, peer) => {
                let plane = &mut self.servers.all[server].plane;
                plane.recycle(peer, datagram.bytes);
            }
            Sender::Person(number, of) => {
                if let Some(connected) = self.people[number].connection_mut(of) {
                    connected.peer.recycle(datagram.bytes);
                }
            }
            Sender::Gone => {}
        }
    }
}

impl Flow for ConferenceFlow {
    fn on_timer(&mut self, now: Instant, key: u32, network: &mut Network) {
        let key = key as usize;
        match key.checked_sub(FIRST_PERSON + self.people.len()) {
            Some(server) => self.servers.touch(server).plane.handle_timeout(now),
            None if key == TURN_TIMER => self.take_turns(now, network),
            None => {
                let number = key - FIRST_PERSON;
                if self.people[number].leaves(now) {
                    self.leave(now, number, network);
                }
                if self.people[number].joins_at.is_some_and(|at| at <= now) {
                    self.join(now, number);
                }
                let speaks = self.speakers[0] == Some(number);
                self.people[number].on_time(now, speaks);
                self.touched.push_back(number);
            }
        }
        self.settle(now, network);
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, network: &mut Network) {
        let Body::Datagram(key) = packet.body else {
            return;
        };
        let datagram = self.in_flight.take(key);
        let Datagram {
            from, to, bytes, ..
        } = &datagram;
        let (from, to) = (*from, *to);
        let tuple = FiveTuple::udp(to, from);
        if let Some(server) = self.servers.at(to) {
            let plane = &mut self.servers.touch(server).plane;
            plane.handle_datagram(now, tuple, packet.ecn, bytes);
        } else if let Some(number) = self.person_at(to) {
            let of = Connection::of_port(to.port());
            if let Some(connected) = self.people[number].connection_mut(of) {
                let peer = &mut connected.peer;
                peer.handle_datagram(now, tuple, packet.ecn, bytes);
                connected.is_touched = true;
                self.touched.push_back(number);
            }
        }
        self.recycle(datagram);
        self.settle(now, network);
    }

    fn on_dropped(&mut self, packet: &Packet) {
        if let Body::Datagram(key) = packet.body {
            let datagram = self.in_flight.take(key);
            self.recycle(datagram);
        }
    }

    fn sample(&mut self, _at: Instant) {}

    fn detail(&mut self, share: usize) -> FlowDetail {
        let Some(group) = self.groups.get(share) else {
            return FlowDetail::Packets;
        };
        let people = self.people[group.clone()].iter_mut();
        FlowDetail::Conference(ConferenceRecord {
            people: people.map(Person::take_record).collect(),
        })
    }
}

impl ConferenceFlow {
    /// Returns the person with this address.
    fn person_at(&self, address: SocketAddr) -> Option<usize> {
        let Place::Person(route) = addresses::place_of(address) else {
            return None;
        };
        let after = self
            .people
            .partition_point(|person| person.routes().start <= route);
        let number = after.checked_sub(1)?;
        self.people[number]
            .routes()
            .contains(&route)
            .then_some(number)
    }
}

#[cfg(test)]
mod tests;
