//! Two whole peers over links, in virtual time.

use std::net::{IpAddr, SocketAddr};

use weft_links::{Departure, Link, LinkSpec};
use weft_peer::{AnswerPolicy, Direction, Event, Offer, Output, Peer, PeerConfig, Section, answer};
use weft_secure::IceRole;
use weft_session::{Delivery, MediaKind};
use weft_units::{Bytes, Deadline, Duration, Instant, Rng, StreamId};

use crate::common::{FRAME_INTERVAL, Record, Side, Source, Stage, config, local};

pub fn link(spec: &str) -> LinkSpec {
    spec.parse().expect("a link specification")
}

/// UDP and IP header.
const OVERHEAD: u64 = 28;

/// How a call is set up.
pub struct Setup {
    pub seed: u64,
    pub links: Vec<LinkSpec>,
    pub family: Family,
    pub offerer: Side,
    /// Changes the offer on its way, so that the answerer knows less than we.
    pub edit_offer: fn(String) -> String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    V4,
    V6,
}

impl Setup {
    pub fn new(seed: u64, links: &[&str]) -> Setup {
        Setup {
            seed,
            links: links.iter().map(|spec| link(spec)).collect(),
            family: Family::V4,
            offerer: Side::Sender,
            edit_offer: |sdp| sdp,
        }
    }
}

struct Datagram {
    from: SocketAddr,
    to: SocketAddr,
    bytes: Vec<u8>,
}

/// A link of the sender's: its address there, both directions.
struct Wire {
    address: SocketAddr,
    up: Link<Datagram>,
    down: Link<Datagram>,
}

pub struct World {
    now: Instant,
    sender: Peer,
    receiver: Peer,
    wires: Vec<Wire>,
    family: Family,
    stream: StreamId,
    source: Source,
    /// Frames begin when the sender is connected.
    next_frame: Option<Instant>,
    record: Record,
    rng: Rng,
}

impl World {
    /// Offer and answer are exchanged at the start; how long they travel is
    /// the signalling's affair.
    pub fn new(setup: &Setup) -> World {
        let rng = Rng::new(setup.seed);
        let wires: Vec<Wire> = (0..setup.links.len())
            .map(|index| wire(&rng, setup.family, index, &setup.links[index]))
            .collect();
        let (mut sender, mut receiver) = configs(setup, &rng);
        sender.locals = (0..)
            .zip(&wires)
            .map(|(i, w)| local(w.address, i))
            .collect();
        receiver.locals = vec![local(server(setup.family), 0)];
        let (sender, receiver) = negotiate(setup, sender, receiver);
        World {
            now: Instant::ZERO,
            stream: sender.streams()[0].stream,
            sender,
            receiver,
            wires,
            family: setup.family,
            source: Source::new(rng.stream("frames")),
            next_frame: None,
            record: Record::default(),
            rng,
        }
    }

    /// The sender gets one link more in mid-call.
    pub fn add_link(&mut self, spec: &str) {
        let index = self.wires.len();
        let wire = wire(&self.rng, self.family, index, &link(spec));
        self.sender
            .add_local(self.now, local(wire.address, index as u8));
        self.wires.push(wire);
    }

    /// The sender loses a link's address.
    pub fn remove_link(&mut self, link: usize) {
        self.sender.remove_local(self.now, self.wires[link].address);
    }

    pub fn sender(&self) -> &Peer {
        &self.sender
    }

    pub fn receiver(&self) -> &Peer {
        &self.receiver
    }

    /// Bytes that came through each link towards the receiver.
    pub fn delivered(&self) -> Vec<u64> {
        let delivered = |w: &Wire| w.up.counters().delivered.bytes.0;
        self.wires.iter().map(delivered).collect()
    }

    /// Round trip of the first link, without its queue.
    pub fn rtt(&self) -> Duration {
        self.wires[0].up.delay() * 2
    }

    fn next_event(&self) -> Option<Instant> {
        let links = self.wires.iter().flat_map(|w| [&w.up, &w.down]);
        let deadlines = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
        let all = links.map(Link::poll_timeout).chain(deadlines).flatten();
        all.map(|d: Deadline| d.at).chain(self.next_frame).min()
    }

    fn step(&mut self) {
        let now = self.now;
        self.deliver();
        for peer in [&mut self.sender, &mut self.receiver] {
            if peer.poll_timeout().is_some_and(|d| d.at <= now) {
                peer.handle_timeout(now);
            }
        }
        if self.next_frame.is_some_and(|at| at <= now) {
            self.next_frame = Some(now + FRAME_INTERVAL);
            let (sender, stream) = (&mut self.sender, self.stream);
            self.source.capture(now, |frame| {
                sender
                    .send_frame(now, stream, frame)
                    .expect("the stream was negotiated");
            });
        }
        self.drain();
    }

    fn deliver(&mut self) {
        let now = self.now;
        for wire in &mut self.wires {
            for (link, peer) in [
                (&mut wire.up, &mut self.receiver),
                (&mut wire.down, &mut self.sender),
            ] {
                while let Some(departure) = link.poll(now) {
                    if let Departure::Delivered { packet, .. } = departure {
                        peer.handle_datagram(now, packet.to, packet.from, &packet.bytes);
                    }
                }
            }
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.sender.poll_output() {
            match output {
                Output::Event(event) => self.on_sender_event(&event),
                Output::Transmit {
                    local,
                    remote,
                    datagram,
                } => self.send(Side::Sender, local, remote, datagram),
            }
        }
        while let Some(output) = self.receiver.poll_output() {
            match output {
                Output::Event(event) => self.record.on_event(self.now, Side::Receiver, &event),
                Output::Transmit {
                    local,
                    remote,
                    datagram,
                } => self.send(Side::Receiver, local, remote, datagram),
            }
        }
    }

    fn on_sender_event(&mut self, event: &Event) {
        self.record.on_event(self.now, Side::Sender, event);
        self.source.on_event(event);
        if self.next_frame.is_none() && self.sender.is_connected() {
            self.next_frame = Some(self.now);
        }
    }

    fn send(&mut self, from: Side, local: SocketAddr, remote: SocketAddr, bytes: Vec<u8>) {
        let at_sender = if from == Side::Sender { local } else { remote };
        let wire = self.wires.iter_mut().find(|w| w.address == at_sender);
        let Some(wire) = wire else { return };
        let link = match from {
            Side::Sender => &mut wire.up,
            Side::Receiver => &mut wire.down,
        };
        let size = Bytes(bytes.len() as u64 + OVERHEAD);
        let datagram = Datagram {
            from: local,
            to: remote,
            bytes,
        };
        link.enqueue(self.now, size, datagram);
    }
}

impl Stage for World {
    fn now(&self) -> Instant {
        self.now
    }

    fn run(&mut self, span: Duration) {
        let end = self.now + span;
        let mut steps_now = 0;
        self.drain();
        while let Some(next) = self.next_event().filter(|at| *at <= end) {
            steps_now = if next > self.now { 0 } else { steps_now + 1 };
            assert!(steps_now < 1000, "time stands still at {:?}", self.now);
            self.now = self.now.max(next);
            self.step();
        }
        self.now = end;
    }

    fn cut(&mut self, link: usize) {
        self.wires[link].up.cut(self.now);
        self.wires[link].down.cut(self.now);
    }

    fn restore(&mut self, link: usize) {
        self.wires[link].up.restore(self.now);
        self.wires[link].down.restore(self.now);
    }

    fn record(&self) -> &Record {
        &self.record
    }
}

fn server(family: Family) -> SocketAddr {
    address(family, "198.51.100.1", "2001:db8::1", 5000)
}

fn address(family: Family, v4: &str, v6: &str, port: u16) -> SocketAddr {
    let text = match family {
        Family::V4 => v4,
        Family::V6 => v6,
    };
    let ip: IpAddr = text.parse().expect("an address");
    SocketAddr::new(ip, port)
}

fn wire(rng: &Rng, family: Family, index: usize, spec: &LinkSpec) -> Wire {
    let (v4, v6) = (format!("10.0.{index}.2"), format!("fd00:{index}::2"));
    Wire {
        address: address(family, &v4, &v6, 4000 + index as u16),
        up: Link::new(spec, rng.stream(&format!("up{index}"))),
        down: Link::new(spec, rng.stream(&format!("down{index}"))),
    }
}

/// The offerer controls.
fn configs(setup: &Setup, rng: &Rng) -> (PeerConfig, PeerConfig) {
    let (sender, receiver) = match setup.offerer {
        Side::Sender => (IceRole::Controlling, IceRole::Controlled),
        Side::Receiver => (IceRole::Controlled, IceRole::Controlling),
    };
    let epoch = epoch();
    (
        config(sender, epoch, &rng.stream("sender")),
        config(receiver, epoch, &rng.stream("receiver")),
    )
}

/// Any value will do.
#[allow(clippy::disallowed_methods)]
fn epoch() -> std::time::Instant {
    std::time::Instant::now()
}

fn negotiate(setup: &Setup, sender: PeerConfig, receiver: PeerConfig) -> (Peer, Peer) {
    let kind = MediaKind::Video;
    let (offerer, answerer, direction) = match setup.offerer {
        Side::Sender => (sender, receiver, Direction::Send),
        Side::Receiver => (receiver, sender, Direction::Receive),
    };
    let policy = match setup.offerer {
        Side::Sender => AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        },
        Side::Receiver => AnswerPolicy {
            receive: None,
            send: vec![kind],
        },
    };
    let section = Section { kind, direction };
    let offer = Offer::new(Instant::ZERO, offerer, &[section], Delivery::Frames);
    let text = (setup.edit_offer)(offer.sdp());
    let (answerer, text) =
        answer(Instant::ZERO, answerer, &text, &policy).expect("the offer is good");
    let offerer = offer
        .accept(Instant::ZERO, &text)
        .expect("the answer is good");
    match setup.offerer {
        Side::Sender => (offerer, answerer),
        Side::Receiver => (answerer, offerer),
    }
}
