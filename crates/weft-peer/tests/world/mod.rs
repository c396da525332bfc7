//! Two complete peers over links, in virtual time.

use std::net::SocketAddr;

use weft_ice::IceRole;
use weft_peer::{
    AnswerPolicy, Event, Offer, Output, Peer, PeerConfig, Section, StreamDirection, answer,
};
use weft_session::{Delivery, SchedulerKind};
use weft_units::{Duration, Ecn, FiveTuple, Instant, MediaKind, Rate, Rng, StreamId};

use crate::common::{
    FRAME_INTERVAL, Record, Side, Source, TestCall, config, frame, heed, local, source,
};
use crate::wires::{Family, Wires, any_epoch};

/// Setup of a call.
pub struct Setup {
    pub seed: u64,
    pub links: Vec<&'static str>,
    pub family: Family,
    pub offerer: Side,
    pub scheduler: SchedulerKind,
    /// Bound on the sender's total rate.
    pub limit: Option<Rate>,
    /// Changes the offer on its way, so that the answerer supports less than we.
    pub edit_offer: fn(String) -> String,
    /// Sides that want data channels.
    pub data: Vec<Side>,
}

impl Setup {
    pub fn new(seed: u64, links: &[&'static str]) -> Setup {
        Setup {
            seed,
            links: links.to_vec(),
            family: Family::V4,
            offerer: Side::Sender,
            scheduler: SchedulerKind::default(),
            limit: None,
            edit_offer: |sdp| sdp,
            data: Vec::new(),
        }
    }
}

/// Call; the sender has the links.
pub struct World {
    now: Instant,
    sender: Peer,
    receiver: Peer,
    pub wires: Wires,
    hub: SocketAddr,
    stream: StreamId,
    source: Source,
    /// Whether the sender gets another socket when it requests one.
    pub opens_sockets: bool,
    /// Time of the next frame; frames start when the sender is connected.
    next_frame: Option<Instant>,
    record: Record,
}

impl World {
    /// Creates a call. Offer and answer are exchanged at the start, without any signalling delay.
    pub fn new(setup: &Setup) -> World {
        let rng = Rng::new(setup.seed);
        let wires = Wires::new(setup.family, &setup.links, &rng);
        let (mut sender, mut receiver) = configs(setup, &rng);
        sender.data_channels = setup.data.contains(&Side::Sender);
        receiver.data_channels = setup.data.contains(&Side::Receiver);
        sender.session.scheduler = setup.scheduler;
        sender.session.send_limit = setup.limit;
        if let Some(rate) = setup.limit {
            sender.session.max_rate = rate;
        }
        sender.locals = wires.locals();
        receiver.locals = vec![local(setup.family.hub(), 0)];
        let (sender, receiver) = negotiate(setup, sender, receiver);
        World {
            now: Instant::ZERO,
            stream: sender.streams()[0].stream,
            sender,
            receiver,
            wires,
            hub: setup.family.hub(),
            source: source(rng.stream("frames")),
            opens_sockets: true,
            next_frame: None,
            record: Record::default(),
        }
    }

    /// Adds a link to the sender in mid-call.
    pub fn add_link(&mut self, spec: &str) {
        let local = self.wires.add(spec);
        self.sender.add_local(self.now, local);
    }

    /// Removes a link's address from the sender.
    pub fn remove_link(&mut self, link: usize) {
        self.sender.remove_local(self.now, self.wires.spoke(link));
    }

    pub fn sender(&self) -> &Peer {
        &self.sender
    }

    pub fn receiver(&self) -> &Peer {
        &self.receiver
    }

    /// Returns one side and the time, to act on its data channels.
    pub fn side(&mut self, side: Side) -> (&mut Peer, Instant) {
        match side {
            Side::Sender => (&mut self.sender, self.now),
            Side::Receiver => (&mut self.receiver, self.now),
        }
    }

    fn next_event(&self) -> Option<Instant> {
        let peers = [self.sender.poll_timeout(), self.receiver.poll_timeout()];
        let peers = peers.into_iter().flatten().map(|d| d.at);
        let others = [self.wires.poll_timeout(), self.next_frame];
        peers.chain(others.into_iter().flatten()).min()
    }

    fn step(&mut self) {
        let now = self.now;
        while let Some(datagram) = self.wires.poll(now) {
            let peer = if datagram.to == self.hub {
                &mut self.receiver
            } else {
                &mut self.sender
            };
            peer.handle_datagram(
                now,
                FiveTuple::udp(datagram.to, datagram.from),
                Ecn::NotEct,
                &datagram.bytes,
            );
        }
        for peer in [&mut self.sender, &mut self.receiver] {
            if peer.poll_timeout().is_some_and(|d| d.at <= now) {
                peer.handle_timeout(now);
            }
        }
        if self.next_frame.is_some_and(|at| at <= now) {
            self.next_frame = Some(now + FRAME_INTERVAL);
            let picture = self.source.capture(now);
            self.sender
                .send_frame(now, self.stream, &frame(&picture))
                .expect("the stream was negotiated");
        }
        self.drain();
    }

    fn drain(&mut self) {
        for side in [Side::Sender, Side::Receiver] {
            while let Some(output) = self.poll_output(side) {
                match output {
                    Output::Event(event) => self.on_event(side, &event),
                    Output::Transmit {
                        tuple, datagram, ..
                    } => self
                        .wires
                        .send(self.now, tuple.local, tuple.remote, datagram),
                }
            }
        }
    }

    fn poll_output(&mut self, side: Side) -> Option<Output> {
        match side {
            Side::Sender => self.sender.poll_output(),
            Side::Receiver => self.receiver.poll_output(),
        }
    }

    fn on_event(&mut self, side: Side, event: &Event) {
        self.record.on_event(self.now, side, event);
        if side == Side::Sender {
            heed(&mut self.source, event);
            if let (Event::AddressWanted { beside }, true) = (event, self.opens_sockets) {
                let local = self.wires.open_beside(*beside);
                self.sender.move_selection(self.now, local);
            }
            if self.next_frame.is_none() && self.sender.is_connected() {
                self.next_frame = Some(self.now);
            }
        }
    }
}

impl TestCall for World {
    fn now(&self) -> Instant {
        self.now
    }

    fn run(&mut self, span: Duration) {
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

    fn cut(&mut self, link: usize) {
        self.wires.cut(self.now, link);
    }

    fn restore(&mut self, link: usize) {
        self.wires.restore(self.now, link);
    }

    fn record(&self) -> &Record {
        &self.record
    }
}

/// Configurations of both sides; the offerer controls.
fn configs(setup: &Setup, rng: &Rng) -> (PeerConfig, PeerConfig) {
    let (sender, receiver) = match setup.offerer {
        Side::Sender => (IceRole::Controlling, IceRole::Controlled),
        Side::Receiver => (IceRole::Controlled, IceRole::Controlling),
    };
    let epoch = any_epoch();
    (
        config(sender, epoch, &rng.stream("sender")),
        config(receiver, epoch, &rng.stream("receiver")),
    )
}

fn negotiate(setup: &Setup, sender: PeerConfig, receiver: PeerConfig) -> (Peer, Peer) {
    let kind = MediaKind::Video;
    let (offerer, answerer, direction) = match setup.offerer {
        Side::Sender => (sender, receiver, StreamDirection::Send),
        Side::Receiver => (receiver, sender, StreamDirection::Receive),
    };
    let policy = match setup.offerer {
        Side::Sender => AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        },
        Side::Receiver => AnswerPolicy {
            receive: None,
            send: vec![kind.into()],
        },
    };
    let section = Section::new(kind, direction);
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
