//! Body of the fuzz target `peers`, which a test also runs.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant as StdInstant;

use weft_ice::{Checks, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_secure::Certificate;
use weft_session::{Delivery, Frame};
use weft_units::fuzz::records;
use weft_units::{Duration, Ecn, FiveTuple, Instant, MediaKind, Rng, Transport};

use crate::{
    AnswerPolicy, Entropy, Offer, Output, Peer, PeerConfig, PeerKey, PeerSet, Section,
    StreamDirection, TimeOrigin, answer,
};

/// Maximum number of calls in one input.
const MOST: usize = 4;
/// Maximum number of datagrams from clients that wait; the oldest are dropped.
const MOST_WAITING: usize = 64;
/// Maximum number of answer rounds before time passes.
const MOST_ROUNDS: usize = 200;

/// Feeds the bytes to a set of peers that share a socket and have real clients. The datagrams are
/// invented, or those of the clients, sent from other addresses, changed or repeated, while
/// clients come and go and time passes. The routes must equal the peers' pairs at all times, and
/// time must always advance. Returns the number of datagrams and timeouts.
pub fn fuzz_set(data: &[u8], certificate: &Certificate) -> usize {
    let mut house = House {
        certificate: certificate.clone(),
        origin: origin(),
        now: Instant::ZERO,
        set: PeerSet::default(),
        clients: Vec::new(),
        waiting: VecDeque::new(),
        inputs: 0,
    };
    house.admit();
    for (how, content) in records(data) {
        house.step(how, content);
        house.settle();
        let pairs = house.set.iter().map(|(_, peer)| peer.association.routes());
        let pairs: usize = pairs.map(Iterator::count).sum();
        assert_eq!(house.set.routes(), pairs);
    }
    house.inputs
}

/// Returns an epoch; any value works in virtual time.
#[allow(clippy::disallowed_methods)]
fn origin() -> TimeOrigin {
    static ORIGIN: std::sync::OnceLock<StdInstant> = std::sync::OnceLock::new();
    TimeOrigin {
        std: *ORIGIN.get_or_init(StdInstant::now),
        ntp: 0,
    }
}

fn server() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 1))
}

/// Address of a client, or of a stranger.
fn place(number: usize) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 9], 1 + number as u16))
}

struct House {
    certificate: Certificate,
    origin: TimeOrigin,
    now: Instant,
    set: PeerSet,
    clients: Vec<(PeerKey, Peer)>,
    /// Datagrams of clients that are in flight.
    waiting: VecDeque<(SocketAddr, Vec<u8>)>,
    inputs: usize,
}

impl House {
    fn config(&self, role: IceRole, number: u64, addr: SocketAddr) -> PeerConfig {
        let local = LocalAddress {
            transport: Transport::Udp,
            addr,
            link: LinkId(0),
            cost: 0,
            remotes: RemoteFilter::Any,
        };
        let entropy = Entropy::repeating(Rng::new(number));
        let certificate = self.certificate.clone();
        PeerConfig::new(role, self.origin, certificate, vec![local], &entropy)
    }

    /// Adds a call. Its client has its own address.
    fn admit(&mut self) {
        let number = self.clients.len();
        if number == MOST {
            return;
        }
        let client = self.config(IceRole::Controlling, 2 * number as u64, place(number));
        let mut server = self.config(IceRole::Controlled, 2 * number as u64 + 1, server());
        server.association.ice.checks = Checks::Answering;
        let section = Section::new(MediaKind::Video, StreamDirection::Send);
        let policy = AnswerPolicy {
            receive: Some(Delivery::Packets),
            send: Vec::new(),
        };
        let offer = Offer::new(self.now, client, &[section], Delivery::Frames);
        let (server, text) = answer(self.now, server, &offer.sdp(), &policy).expect("it is good");
        let client = offer.accept(self.now, &text).expect("it is good");
        self.clients.push((self.set.insert(server), client));
    }

    fn step(&mut self, how: u8, content: &[u8]) {
        let byte = |at: usize| usize::from(content.get(at).copied().unwrap_or(0));
        let rest = content.get(2..).unwrap_or(&[]);
        let who = byte(0) % self.clients.len();
        match how & 7 {
            0 => self.arrive(place(byte(0) & 7), rest),
            1 => {
                // A client's datagram from a stranger's address, with some bytes changed.
                if let Some((_, mut datagram)) = self.waiting.pop_front() {
                    for (at, change) in rest.iter().enumerate() {
                        if let Some(byte) = datagram.get_mut(byte(1) + at) {
                            *byte ^= change;
                        }
                    }
                    self.arrive(place(byte(0) & 7), &datagram);
                }
            }
            2 => {
                // The same datagram twice, from the client or from another address.
                let at = byte(1) % self.waiting.len().max(1);
                if let Some((from, datagram)) = self.waiting.get(at).cloned() {
                    let from = if byte(0) & 1 == 0 {
                        from
                    } else {
                        place(byte(0) >> 1 & 7)
                    };
                    self.arrive(from, &datagram);
                }
            }
            3 => drop(self.waiting.pop_front()),
            4 => {
                self.now += Duration::from_millis(byte(0) as u64 * 16);
                self.inputs += 1;
            }
            5 => match byte(0) & 7 {
                0 => drop(self.set.remove(self.clients[who].0)),
                1 => self.set.close(self.now, self.clients[who].0),
                _ => self.admit(),
            },
            6 => {
                let frame = Frame {
                    data: &vec![1; byte(1) * 16],
                    timestamp: 0,
                    keyframe: true,
                    temporal_layer: None,
                    layer_sync: false,
                    non_reference: false,
                    captured_at: self.now,
                    audio_level: None,
                };
                let client = &mut self.clients[who].1;
                let stream = client.streams()[0].stream;
                client
                    .send_frame(self.now, stream, &frame)
                    .expect("agreed on");
            }
            _ => {
                // All datagrams arrive in order.
                while let Some((from, datagram)) = self.waiting.pop_front() {
                    self.arrive(from, &datagram);
                }
            }
        }
    }

    fn arrive(&mut self, from: SocketAddr, datagram: &[u8]) {
        self.inputs += 1;
        self.set.handle_datagram(
            self.now,
            FiveTuple::udp(server(), from),
            Ecn::NotEct,
            datagram,
        );
    }

    /// Handles everything that is due and delivers the peers' datagrams to their clients.
    fn settle(&mut self) {
        for _ in 0..MOST_ROUNDS {
            let mut moved = false;
            if self.set.poll_timeout().is_some_and(|d| d.at <= self.now) {
                self.inputs += 1;
                moved = true;
                self.set.handle_timeout(self.now);
            }
            while let Some((key, output)) = self.set.poll_output() {
                let Output::Transmit {
                    tuple, datagram, ..
                } = output
                else {
                    continue;
                };
                let mut clients = (0..).zip(&mut self.clients);
                if let Some((_, (_, client))) = clients.find(|(n, _)| place(*n) == tuple.remote) {
                    self.inputs += 1;
                    moved = true;
                    client.handle_datagram(self.now, tuple.reversed(), Ecn::NotEct, &datagram);
                }
                self.set.recycle(key, datagram);
            }
            for (number, (_, client)) in (0..).zip(&mut self.clients) {
                if client.poll_timeout().is_some_and(|d| d.at <= self.now) {
                    self.inputs += 1;
                    moved = true;
                    client.handle_timeout(self.now);
                }
                while let Some(output) = client.poll_output() {
                    if let Output::Transmit { datagram, .. } = output {
                        self.waiting.push_back((place(number), datagram));
                    }
                }
            }
            while self.waiting.len() > MOST_WAITING {
                self.waiting.pop_front();
            }
            if !moved {
                return;
            }
        }
        panic!("spins: {:?}", self.set.poll_timeout());
    }
}

#[cfg(test)]
mod tests;
