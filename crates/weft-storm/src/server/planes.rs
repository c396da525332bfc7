//! Planes of a server, and their messages to each other.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};
use std::net::SocketAddr;

use weft_forwarding::{Event, Output, Plane, PlaneId, Recorded, Relayed, Settings};
use weft_units::Instant;

use crate::network::{Datagram, SERVER};
use crate::peer_factory::PeerFactory;
use crate::processor::Work;

/// Bounds on the cost of a peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Budgets {
    /// In force, as in the product.
    Kept,
    /// Removed, to measure their effect and their cost.
    LeftOut,
}

/// Datagram to send.
pub struct Sent {
    /// Association that protects it; unique in the run.
    pub context: u64,
    pub datagram: Datagram,
}

/// All planes. Each has a socket on the server's one port.
pub struct Planes {
    factory: PeerFactory,
    budgets: Budgets,
    all: Vec<Plane>,
    /// Number of each plane among all planes so far.
    serials: Vec<u64>,
    begun: u64,
    /// Messages in flight: from, to.
    relayed: VecDeque<(usize, usize, Relayed)>,
    /// Messages to the recorder since the last call, each with the number of its plane.
    pub recorded: Vec<(u64, Recorded)>,
}

fn id(place: usize) -> PlaneId {
    PlaneId::new(place).expect("there are not so many")
}

impl Planes {
    pub fn new(factory: &PeerFactory, budgets: Budgets, count: usize) -> Planes {
        let mut planes = Planes {
            factory: factory.clone(),
            budgets,
            all: Vec::new(),
            serials: vec![0; count],
            begun: 0,
            relayed: VecDeque::new(),
            recorded: Vec::new(),
        };
        planes.all = (0..count).map(|place| planes.begin(place)).collect();
        for place in 0..count {
            planes.link(Instant::ZERO, place);
        }
        planes
    }

    pub fn count(&self) -> usize {
        self.serials.len()
    }

    /// Whether the plane with this number has not failed.
    pub fn has(&self, serial: u64) -> bool {
        self.serials.contains(&serial)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Plane> {
        self.all.iter()
    }

    fn begin(&mut self, place: usize) -> Plane {
        self.begun += 1;
        self.serials[place] = self.begun;
        let PeerFactory {
            origin,
            certificate,
            ..
        } = &self.factory;
        let settings = Settings::new(*origin, certificate.clone(), &[SERVER]);
        let settings = match self.budgets {
            Budgets::Kept => settings,
            Budgets::LeftOut => settings.without_budgets(),
        };
        Plane::new(match self.count() {
            1 => settings,
            _ => settings.of_plane(id(place)),
        })
    }

    /// Links a plane with all others.
    fn link(&mut self, now: Instant, place: usize) {
        for other in (0..self.count()).filter(|other| *other != place) {
            self.all[place].link(now, id(other));
        }
    }

    /// Returns the plane whose socket receives datagrams from this address: the system
    /// does not know the connections.
    pub fn socket_of(&self, from: SocketAddr) -> usize {
        let mut hash = DefaultHasher::new();
        hash.write(from.to_string().as_bytes());
        hash.finish() as usize % self.count()
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let all = self.all.iter().filter_map(Plane::poll_timeout);
        all.map(|deadline| deadline.at).min()
    }

    pub fn is_due(&self, now: Instant, place: usize) -> bool {
        self.all[place].poll_timeout().is_some_and(|d| d.at <= now)
    }

    /// Drives a plane.
    pub fn drive<R>(
        &mut self,
        place: usize,
        work: &mut Work,
        call: impl FnOnce(&mut Plane) -> R,
    ) -> R {
        work.part(|| call(&mut self.all[place]))
    }

    /// Handles the outputs of a plane that was driven, and of those that it sends messages to.
    pub fn settle(
        &mut self,
        now: Instant,
        place: usize,
        work: &mut Work,
        outbox: &mut VecDeque<Sent>,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        self.drain(place, work, outbox, &mut events);
        while let Some((from, to, message)) = self.relayed.pop_front() {
            work.part(|| self.all[to].handle_relayed(now, id(from), message));
            self.drain(to, work, outbox, &mut events);
        }
        events
    }

    /// Replaces a failed plane with an empty one.
    pub fn replace(
        &mut self,
        now: Instant,
        place: usize,
        work: &mut Work,
        outbox: &mut VecDeque<Sent>,
    ) -> Vec<Event> {
        let plane = self.begin(place);
        work.part(|| self.all[place] = plane);
        self.link(now, place);
        let mut events = Vec::new();
        for other in (0..self.count()).filter(|other| *other != place) {
            self.drive(other, work, |plane| {
                plane.unlink(now, id(place));
                plane.link(now, id(place));
            });
            events.extend(self.settle(now, other, work, outbox));
        }
        events
    }

    fn drain(
        &mut self,
        place: usize,
        work: &mut Work,
        outbox: &mut VecDeque<Sent>,
        events: &mut Vec<Event>,
    ) {
        while let Some(output) = work.part(|| self.all[place].poll_output()) {
            match output {
                Output::Event(event) => events.push(event),
                Output::Relay { to, message } => {
                    self.relayed.push_back((place, to.number(), message));
                }
                // These planes do not capture packets.
                Output::Captured { .. } => {}
                Output::Record(recorded) => {
                    self.recorded.push((self.serials[place], recorded));
                }
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
                    work.part(|| self.all[place].recycle(peer, datagram));
                    outbox.push_back(Sent {
                        context: self.serials[place] << 24 | peer.0,
                        datagram: copy,
                    });
                }
            }
        }
    }
}
