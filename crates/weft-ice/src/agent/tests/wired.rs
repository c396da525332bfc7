//! Two ends in virtual time, connected by wires. The tests of `weft-secure`
//! include this file: its ends are associations there, and agents here.

use super::ice::{LinkId, LocalAddress, Output, RemoteCandidate, RemoteFilter};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::SocketAddr;
use weft_units::{Deadline, Duration, FiveTuple, Instant, PathId, Rng, Transport};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// Controlling side, which made the offer.
    A,
    B,
}

impl Side {
    pub fn other(self) -> Side {
        match self {
            Side::A => Side::B,
            Side::B => Side::A,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Wire {
    pub delay: Duration,
    pub loss: f64,
    pub up: bool,
    /// Whether a datagram of this side is dropped because of its content.
    pub drops: fn(Side, &[u8]) -> bool,
}

/// End of wires.
pub trait End: Sized {
    type Event: Clone;
    /// State of received input for the tests.
    type Got: Default;

    /// Creates the end that made the offer, and the other one, before they know
    /// each other.
    fn strangers() -> [Self; 2];
    /// Introduces the two ends and their addresses to each other.
    fn introduce(now: Instant, a: (&mut Self, &[&str]), b: (&mut Self, &[&str]));
    fn add_local(&mut self, now: Instant, local: LocalAddress);
    fn path_between(&self, local: SocketAddr, remote: SocketAddr) -> Option<PathId>;
    fn poll_timeout(&self) -> Option<Deadline>;
    fn handle_timeout(&mut self, now: Instant);
    fn poll_output(&mut self) -> Option<Output<Self::Event>>;
    fn deliver(&mut self, now: Instant, came: Came<'_>, got: &mut Self::Got);
}

/// Datagram that arrived at a side.
#[derive(Clone, Copy)]
#[allow(dead_code, reason = "agents do not ask to which side it came")]
pub struct Came<'a> {
    pub to: Side,
    pub local: SocketAddr,
    pub remote: SocketAddr,
    pub datagram: &'a [u8],
}

impl Came<'_> {
    pub fn tuple(&self) -> FiveTuple {
        FiveTuple::udp(self.local, self.remote)
    }
}

/// Arrival time, sequence number, receiving side, destination, source, content.
type Flight = Reverse<(Instant, u64, Side, SocketAddr, SocketAddr, Vec<u8>)>;

pub struct Wired<E: End> {
    pub now: Instant,
    pub a: E,
    pub b: E,
    /// Wires by A's address and B's; the same in both directions.
    pub wires: BTreeMap<(SocketAddr, SocketAddr), Wire>,
    pub events: Vec<(Instant, Side, E::Event)>,
    pub got: E::Got,
    /// Every datagram sent, with its sender.
    pub sent: Vec<(Instant, Side, SocketAddr, SocketAddr, Vec<u8>)>,
    /// Datagrams of this side that start with these bytes vanish.
    pub vanish: Option<(Side, [u8; 2])>,
    flights: BinaryHeap<Flight>,
    order: u64,
    /// Random numbers for losses.
    pub rng: Rng,
}

pub fn addr(text: &str) -> SocketAddr {
    text.parse().expect("address")
}

pub fn local(text: &str, link: u8) -> LocalAddress {
    LocalAddress {
        transport: Transport::Udp,
        addr: addr(text),
        link: LinkId(link),
        cost: 10,
        remotes: RemoteFilter::Any,
    }
}

pub fn candidates(addresses: &[&str]) -> Vec<RemoteCandidate> {
    let candidate = |text: &&str| RemoteCandidate {
        addr: addr(text),
        priority: 2_130_706_431,
    };
    addresses.iter().map(candidate).collect()
}

impl<E: End> Wired<E> {
    /// Creates two ends that do not know each other yet, without wires.
    pub fn strangers() -> Wired<E> {
        let [a, b] = E::strangers();
        Wired::of(a, b)
    }

    pub fn of(a: E, b: E) -> Wired<E> {
        Wired {
            now: Instant::ZERO,
            a,
            b,
            wires: BTreeMap::new(),
            events: Vec::new(),
            got: E::Got::default(),
            sent: Vec::new(),
            vanish: None,
            flights: BinaryHeap::new(),
            order: 0,
            rng: Rng::new(3),
        }
    }

    /// A has these addresses, each with a wire of this one-way delay in ms to
    /// the only address of B; both know each other.
    pub fn new(server: &str, clients: &[(&str, u64)]) -> Wired<E> {
        let mut net = Wired::<E>::strangers();
        let now = net.now;
        net.b.add_local(now, local(server, 0));
        for (link, (client, delay)) in (0..).zip(clients) {
            net.a.add_local(now, local(client, link));
            net.wire(client, server, *delay);
        }
        net.introduce(&[server], &[]);
        net
    }

    pub fn introduce(&mut self, of_b: &[&str], of_a: &[&str]) {
        E::introduce(self.now, (&mut self.a, of_a), (&mut self.b, of_b));
    }

    pub fn wire(&mut self, a: &str, b: &str, delay_ms: u64) {
        let wire = Wire {
            delay: Duration::from_millis(delay_ms),
            loss: 0.0,
            up: true,
            drops: |_, _| false,
        };
        self.wires.insert((addr(a), addr(b)), wire);
    }

    pub fn wire_mut(&mut self, a: &str, b: &str) -> &mut Wire {
        self.wires.get_mut(&(addr(a), addr(b))).expect("wire")
    }

    pub fn side(&mut self, side: Side) -> &mut E {
        match side {
            Side::A => &mut self.a,
            Side::B => &mut self.b,
        }
    }

    pub fn run_for(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        let mut steps = 0;
        loop {
            self.drain();
            let arrival = self.flights.peek().map(|f| f.0.0);
            let timer = |end: &E| end.poll_timeout().map(|d| d.at);
            let next = [arrival, timer(&self.a), timer(&self.b)];
            let Some(next) = next.into_iter().flatten().min().filter(|&t| t <= end) else {
                break;
            };
            steps += 1;
            assert!(steps < 1_000_000, "time does not advance at {:?}", self.now);
            self.now = self.now.max(next);
            let now = self.now;
            for end in [&mut self.a, &mut self.b] {
                if end.poll_timeout().is_some_and(|d| d.at <= now) {
                    end.handle_timeout(now);
                    let next = end.poll_timeout();
                    assert!(next.is_none_or(|d| d.at > now), "spins: {next:?}");
                }
            }
            while self.flights.peek().is_some_and(|f| f.0.0 <= now) {
                let Reverse((_, _, to, local, remote, datagram)) =
                    self.flights.pop().expect("peeked");
                let came = Came {
                    to,
                    local,
                    remote,
                    datagram: &datagram,
                };
                let end = match to {
                    Side::A => &mut self.a,
                    Side::B => &mut self.b,
                };
                end.deliver(now, came, &mut self.got);
            }
        }
        self.now = end;
    }

    /// Takes all outputs; datagrams go onto their wires.
    pub fn drain(&mut self) {
        for side in [Side::A, Side::B] {
            while let Some(output) = self.side(side).poll_output() {
                match output {
                    Output::Event(event) => self.events.push((self.now, side, event)),
                    Output::Transmit { tuple, datagram } => {
                        self.send(side, tuple.local, tuple.remote, datagram);
                    }
                }
            }
        }
    }

    pub fn send(&mut self, from: Side, local: SocketAddr, remote: SocketAddr, datagram: Vec<u8>) {
        let key = match from {
            Side::A => (local, remote),
            Side::B => (remote, local),
        };
        self.sent
            .push((self.now, from, local, remote, datagram.clone()));
        let Some(wire) = self.wires.get(&key).filter(|w| w.up) else {
            return;
        };
        let vanishes =
            |(side, start): (Side, [u8; 2])| side == from && datagram.starts_with(&start);
        let dropped = (wire.drops)(from, &datagram);
        if dropped || self.vanish.is_some_and(vanishes) || self.rng.chance(wire.loss) {
            return;
        }
        self.order += 1;
        let at = self.now + wire.delay;
        let flight = (at, self.order, from.other(), remote, local, datagram);
        self.flights.push(Reverse(flight));
    }

    pub fn path_to(&self, side: Side, local: &str, remote: &str) -> PathId {
        let end = match side {
            Side::A => &self.a,
            Side::B => &self.b,
        };
        end.path_between(addr(local), addr(remote)).expect("path")
    }

    /// Events of one side since `from`, each with the milliseconds after it.
    pub fn events_since(&self, side: Side, from: Instant) -> Vec<(u64, E::Event)> {
        let events = self.events.iter();
        let events = events.filter(|(at, s, _)| *s == side && *at >= from);
        events
            .map(|(at, _, e)| (at.saturating_since(from).as_millis(), e.clone()))
            .collect()
    }
}
