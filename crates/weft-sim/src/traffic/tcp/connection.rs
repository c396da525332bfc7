//! Consecutive connections between the two ends of a flow.

use std::ops::Range;

use weft_experiment::{CongestionKind, EcnMode, TcpSetup, Transfer};
use weft_links::Ecn;
use weft_units::{Bytes, Duration, Instant, Rng};

use super::application::{Plan, Work};
use super::congestion;
use super::host_queue::HostQueue;
use super::receiver::Receiver;
use super::sender::{Sender, SenderCounters};
use crate::event_queue::Slot;
use crate::network::Network;
use crate::packet::tcp::{Acknowledgement, HEADERS, PAYLOAD, SYN_SIZE, Segment};
use crate::packet::{Body, Packet};
use crate::traffic::flow::Legs;

/// First timeout for an answer to a SYN (RFC 6298 section 2.1).
const SYN_PATIENCE: Duration = Duration::from_secs(1);

/// Both ends of a connection. After a transfer has ended, the next one opens a new
/// connection, which continues the numbering of segments, so that a late packet of the
/// old connection can be recognised.
pub(crate) struct Connection {
    id: u32,
    options: Options,
    /// Queue limit of the sending host, if it limits its own queue.
    host: Option<HostQueue>,
    legs: Legs,
    slots: [Slot; 2],
    plan: Plan,
    rng: Rng,
    work: Work,
    /// Segments of the current transfer.
    segments: Range<u32>,
    state: State,
    stopped: bool,
    far: Far,
    counters: SenderCounters,
    ended: Option<Transfer>,
}

/// Options for each transfer's connection.
struct Options {
    congestion: CongestionKind,
    ecn: EcnMode,
    /// Window in segments.
    receive_window: u32,
}

/// Receiving end, with its knowledge of the transfer.
struct Far {
    receiver: Receiver,
    /// First segment of the transfer, the end of its segments, and the payload of the
    /// last one.
    first: u32,
    end: u32,
    last: u16,
    /// Bytes delivered by earlier transfers.
    delivered_before: Bytes,
}

/// Timer of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Timer {
    Sender = 0,
    Receiver = 1,
}

enum State {
    /// Nothing to do, or nothing before this time.
    Idle(Option<Instant>),
    /// Waits for the answer to its SYN.
    Connecting {
        since: Instant,
        sent_at: Instant,
        tries: u32,
    },
    Open {
        since: Instant,
        sender: Box<Sender>,
    },
}

impl Connection {
    pub fn new(id: u32, setup: &TcpSetup, legs: Legs, slots: [Slot; 2], rng: Rng) -> Connection {
        Connection {
            id,
            options: Options {
                congestion: setup.congestion,
                ecn: setup.ecn,
                receive_window: segments_of(setup.receive_window),
            },
            host: setup.small_queues.map(HostQueue::new),
            legs,
            slots,
            plan: Plan::new(&setup.application, rng.stream("application")),
            rng,
            work: Work {
                size: None,
                pause: Duration::ZERO,
            },
            segments: 0..0,
            state: State::Idle(None),
            stopped: false,
            far: Far {
                receiver: Receiver::new(0),
                first: 0,
                end: 0,
                last: 0,
                delivered_before: Bytes::ZERO,
            },
            counters: SenderCounters::default(),
            ended: None,
        }
    }

    /// Plans the next transfer and waits for its time.
    pub fn begin(&mut self, now: Instant, network: &mut Network) {
        let work = if self.stopped { None } else { self.plan.next() };
        let at = work.map(|work| {
            self.work = work;
            now + work.pause
        });
        self.state = State::Idle(at);
        if at.is_some_and(|at| at <= now) {
            self.open(now, network);
        }
        network.set_timer(self.slots[Timer::Sender as usize], self.due());
    }

    /// Stops new data; data in flight is still repaired.
    pub fn stop(&mut self) {
        self.stopped = true;
        match &mut self.state {
            State::Open { sender, .. } => sender.stop(),
            state => *state = State::Idle(None),
        }
    }

    fn open(&mut self, now: Instant, network: &mut Network) {
        let (count, _) = self.work.segments();
        let first = self.segments.end;
        self.segments = first..first.saturating_add(count);
        self.state = State::Connecting {
            since: now,
            sent_at: now,
            tries: 1,
        };
        self.send_syn(now, network);
    }

    fn send_syn(&self, now: Instant, network: &mut Network) {
        let body = Body::Syn {
            first: self.segments.start,
        };
        let leg = self.legs.there;
        network.send(now, leg, self.id, SYN_SIZE, Ecn::NotEct, body);
    }

    pub fn on_timer(&mut self, now: Instant, timer: Timer, network: &mut Network) {
        let slot = self.slots[timer as usize];
        if timer == Timer::Receiver {
            if let Some(ack) = self.far.receiver.on_timer(now) {
                self.acknowledge(now, ack, network);
            }
            network.set_timer(slot, self.far.receiver.due());
            return;
        }
        match &mut self.state {
            State::Idle(Some(at)) if *at <= now => self.open(now, network),
            State::Connecting { sent_at, tries, .. } if now >= *sent_at + patience(*tries) => {
                *sent_at = now;
                *tries += 1;
                self.send_syn(now, network);
            }
            State::Open { sender, .. } => {
                sender.on_timer(now);
                self.transmit(now, network);
            }
            _ => {}
        }
        network.set_timer(slot, self.due());
    }

    /// Handles a packet that has crossed the first of several links.
    pub fn on_left(&mut self, now: Instant, packet: &Packet, network: &mut Network) {
        self.release(packet);
        self.go_on(now, network);
    }

    /// Handles a packet that has left the first link.
    pub fn release(&mut self, packet: &Packet) {
        if let (Body::Segment(_), Some(host)) = (packet.body, &mut self.host) {
            host.on_left();
        }
    }

    /// Handles a packet that reached the receiver.
    pub fn on_arrival(&mut self, now: Instant, packet: &Packet, network: &mut Network) {
        if packet.hop == 1 && self.host.is_some() {
            self.on_left(now, packet, network);
        }
        match packet.body {
            Body::Syn { first } => {
                // A retransmitted SYN opens no second transfer.
                if self.far.end != self.segments.end {
                    self.far = Far {
                        receiver: Receiver::new(first),
                        first,
                        end: self.segments.end,
                        last: self.work.segments().1,
                        delivered_before: self.delivered(),
                    };
                }
                let (leg, ecn) = (self.legs.back, Ecn::NotEct);
                network.send(now, leg, self.id, SYN_SIZE, ecn, Body::SynAck { first });
            }
            Body::Segment(segment) => {
                let ack = self.far.receiver.on_segment(now, segment, packet.ecn);
                if let Some(ack) = ack {
                    self.acknowledge(now, ack, network);
                } else if let Some(due) = self.far.receiver.due() {
                    network.hasten_timer(self.slots[Timer::Receiver as usize], due);
                }
            }
            _ => {}
        }
    }

    fn acknowledge(&self, now: Instant, ack: Acknowledgement, network: &mut Network) {
        let (leg, ecn) = (self.legs.back, Ecn::NotEct);
        let body = Body::Acknowledgement(ack);
        network.send(now, leg, self.id, ack.size(), ecn, body);
    }

    /// Handles a packet that reached the sender.
    pub fn on_return(&mut self, now: Instant, packet: &Packet, network: &mut Network) {
        match (packet.body, &mut self.state) {
            (Body::SynAck { first }, State::Connecting { since, sent_at, .. })
                if first == self.segments.start =>
            {
                let handshake = now.saturating_since(*sent_at);
                let congestion =
                    congestion::build(self.options.congestion, now, handshake, &self.rng);
                let window = self.options.receive_window;
                let Range { start, end } = self.segments;
                let sender = Sender::new(now, congestion, start, end, window, handshake);
                self.state = State::Open {
                    since: *since,
                    sender: Box::new(sender),
                };
            }
            (Body::Acknowledgement(ack), State::Open { sender, .. }) => {
                sender.on_acknowledgement(now, &ack);
                if sender.is_done() {
                    self.close(now, network);
                    return;
                }
            }
            _ => return,
        }
        self.go_on(now, network);
    }

    fn go_on(&mut self, now: Instant, network: &mut Network) {
        self.transmit(now, network);
        if let Some(due) = self.due() {
            network.hasten_timer(self.slots[Timer::Sender as usize], due);
        }
    }

    fn transmit(&mut self, now: Instant, network: &mut Network) {
        let (_, last) = self.work.segments();
        let ecn = match self.options.ecn {
            EcnMode::Off => Ecn::NotEct,
            EcnMode::On => Ecn::Ect0,
        };
        let State::Open { sender, .. } = &mut self.state else {
            return;
        };
        loop {
            if let Some(host) = &mut self.host
                && !host.has_room(|time| sender.burst(time))
            {
                sender.hold_back();
                break;
            }
            let Some(segment) = sender.poll_transmit(now) else {
                break;
            };
            let Segment { number, .. } = segment;
            let is_last = number.checked_add(1) == Some(self.segments.end);
            let payload = if is_last { last } else { PAYLOAD };
            let body = Body::Segment(segment);
            let size = HEADERS + payload;
            if let Some(host) = &mut self.host {
                host.on_sent();
            }
            network.send(now, self.legs.there, self.id, size, ecn, body);
        }
    }

    /// Closes the connection: everything is acknowledged.
    fn close(&mut self, now: Instant, network: &mut Network) {
        let idle = State::Idle(None);
        let State::Open { since, sender } = std::mem::replace(&mut self.state, idle) else {
            return;
        };
        self.counters = self.counters.plus(sender.counters);
        if let (Some(size), false) = (self.work.size, self.stopped) {
            self.ended = Some(Transfer {
                started_at: since,
                ended_at: now,
                size,
            });
        }
        self.begin(now, network);
    }

    /// Takes the transfer that has just ended.
    pub fn take_transfer(&mut self) -> Option<Transfer> {
        self.ended.take()
    }

    fn due(&self) -> Option<Instant> {
        match &self.state {
            State::Idle(at) => *at,
            State::Connecting { sent_at, tries, .. } => Some(*sent_at + patience(*tries)),
            State::Open { sender, .. } => sender.due(),
        }
    }

    /// Returns the ordered bytes at the receiver, over all transfers.
    pub fn delivered(&self) -> Bytes {
        self.far.delivered()
    }

    pub fn counters(&self) -> SenderCounters {
        match &self.state {
            State::Open { sender, .. } => self.counters.plus(sender.counters),
            _ => self.counters,
        }
    }

    pub fn window(&self) -> u32 {
        match &self.state {
            State::Open { sender, .. } => sender.window(),
            _ => 0,
        }
    }

    pub fn smoothed_rtt(&self) -> Duration {
        match &self.state {
            State::Open { sender, .. } => sender.smoothed_rtt(),
            _ => Duration::ZERO,
        }
    }
}

impl Far {
    /// Returns the ordered bytes, over all transfers.
    fn delivered(&self) -> Bytes {
        let next = self.receiver.next();
        let segments = u64::from(next - self.first);
        let missing = if next == self.end && segments > 0 {
            u64::from(PAYLOAD - self.last)
        } else {
            0
        };
        self.delivered_before + Bytes(segments * u64::from(PAYLOAD) - missing)
    }
}

/// Returns the whole segments of a receive window, at least one.
fn segments_of(window: Option<Bytes>) -> u32 {
    let segments = window.map_or(u64::MAX, |bytes| bytes.0 / u64::from(PAYLOAD));
    u32::try_from(segments.max(1)).unwrap_or(u32::MAX)
}

fn patience(tries: u32) -> Duration {
    SYN_PATIENCE * (1 << (tries - 1).min(6))
}
