//! Two sessions and the links between them, in virtual time.

mod figures;
pub mod janus;
pub mod lies;
mod links;
mod sound;

use std::cell::Cell;
use std::rc::Rc;

use weft_cc::{ControllerKind, Limits};
use weft_links::{Departure, Link, LinkSpec, PacketInfo};
use weft_session::{
    Config, Delivery, Drops, Event, Feedback, FeedbackFormat, Frame, Input, Output, PathStats,
    Policy, ProtectionKind, Protocol, ReceiveStreamConfig, ReceiverStats, Retransmission,
    SchedulerKind, SendStreamConfig, SenderStats, Session, Transmit,
};
use weft_testing::pictures::{FRAME_INTERVAL, Source, Stamp};
use weft_units::{Bytes, Codec, Duration, Ecn, Instant, PathId, Rate, Rng, Ssrc, StreamId};
use weft_wire::rtp::ExtensionMap;

pub fn link(spec: &str) -> LinkSpec {
    spec.parse().expect("a link specification")
}

/// UDP, IP and SRTP overhead of a packet.
const OVERHEAD: u64 = 28 + 16;
/// Time that an association needs for its verdict, and interval of checks on a dead path.
const VERDICT: Duration = Duration::from_millis(60);
const CHECKS: Duration = Duration::from_millis(300);

struct Packet {
    protocol: Protocol,
    bytes: Vec<u8>,
    /// Whether it or one of its copies has arrived: SRTP delivers it once.
    has_come: Rc<Cell<bool>>,
}

struct Pair {
    up: Link<Packet>,
    down: Link<Packet>,
    rtt: Duration,
    reported_down: bool,
    verdict_at: Option<Instant>,
    next_check: Instant,
}

pub struct Shown {
    pub at: Instant,
    pub captured: Instant,
    pub bytes: usize,
}

/// Returns the receiver's number of a link; the receiver counts its paths in the opposite
/// order.
fn receivers_path(link: usize, links: usize) -> PathId {
    PathId((links - 1 - link) as u8)
}

/// Treatment of ECN-capable packets on the way to the receiver.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Meddling {
    None,
    Bleaches,
    Drops,
}

pub struct World {
    pub now: Instant,
    pub meddling: Meddling,
    sender: Session,
    receiver: Session,
    links: Vec<Pair>,
    stream: StreamId,
    next_frame: Instant,
    source: Source,
    shown: Vec<Shown>,
    keyframe_in: bool,
    sound: Option<sound::Sound>,
    lies: lies::Lies,
    janus: Option<janus::Janus>,
}

impl World {
    pub fn new(seed: u64, specs: &[LinkSpec], scheduler: SchedulerKind) -> World {
        let extensions = ExtensionMap {
            path: Some(5),
            transport_sequence: Some(3),
            ..ExtensionMap::default()
        };
        World::with_extensions(seed, specs, scheduler, extensions, true)
    }

    /// Creates a call with a peer that has not negotiated forward error correction.
    pub fn without_repair_packets(
        seed: u64,
        specs: &[LinkSpec],
        scheduler: SchedulerKind,
    ) -> World {
        let extensions = ExtensionMap {
            path: Some(5),
            ..ExtensionMap::default()
        };
        World::with_extensions(seed, specs, scheduler, extensions, false)
    }

    /// Creates a call with a peer that does not support paths.
    pub fn with_transport_numbers(
        seed: u64,
        specs: &[LinkSpec],
        scheduler: SchedulerKind,
    ) -> World {
        let extensions = ExtensionMap {
            transport_sequence: Some(3),
            ..ExtensionMap::default()
        };
        World::with_extensions(seed, specs, scheduler, extensions, true)
    }

    /// Creates a call with a peer that gives feedback by RFC 8888 and does not support
    /// paths.
    pub fn with_stream_names(
        seed: u64,
        specs: &[LinkSpec],
        scheduler: SchedulerKind,
        controller: ControllerKind,
    ) -> World {
        let mut config = Config::new(ExtensionMap::default(), Ssrc(1));
        config.feedback_format = FeedbackFormat::Stream;
        (config.scheduler, config.controller) = (scheduler, controller);
        World::with_config(seed, specs, config, true)
    }

    /// Creates a call with another controller, between peers with or without path
    /// support.
    pub fn with_controller(
        seed: u64,
        specs: &[LinkSpec],
        controller: ControllerKind,
        extensions: ExtensionMap,
    ) -> World {
        let mut config = Config::new(extensions, Ssrc(1));
        config.controller = controller;
        World::with_config(seed, specs, config, true)
    }

    /// Creates a call with a peer that only sends receiver reports.
    pub fn with_reports_only(seed: u64, specs: &[LinkSpec]) -> World {
        let none = ExtensionMap::default();
        World::with_extensions(seed, specs, SchedulerKind::Single, none, true)
    }

    fn with_extensions(
        seed: u64,
        specs: &[LinkSpec],
        scheduler: SchedulerKind,
        extensions: ExtensionMap,
        has_repair_packets: bool,
    ) -> World {
        let mut config = Config::new(extensions, Ssrc(1));
        config.scheduler = scheduler;
        World::with_config(seed, specs, config, has_repair_packets)
    }

    fn with_config(
        seed: u64,
        specs: &[LinkSpec],
        mut config: Config,
        has_repair_packets: bool,
    ) -> World {
        let rng = Rng::new(seed);
        config.path_limits = Limits {
            min: Rate::from_kbps(50),
            start: Rate::from_kbps(600),
            max: Rate::from_mbps(20),
        };
        config.max_rate = Rate::from_kbps(2500);
        let mut sender = Session::new(Instant::ZERO, config.clone(), rng.stream("a"));
        let mut receiver = Session::new(Instant::ZERO, config, rng.stream("b"));
        let stream = sender.add_send_stream(SendStreamConfig {
            ssrc: Ssrc(100),
            retransmission: Retransmission::Rtx(Ssrc(101), 97),
            payload_type: 96,
            codec: Codec::Vp8,
            mid: None,
            rid: None,
            feedback: Feedback::EachPacket,
            fec: has_repair_packets.then_some((Ssrc(102), 98)),
        });
        receiver.add_receive_stream(ReceiveStreamConfig {
            ssrc: Some(Ssrc(100)),
            mid: None,
            rid: None,
            payload_type: 96,
            rtx: Some((Some(Ssrc(101)), 97)),
            fec: has_repair_packets.then_some((Some(Ssrc(102)), 98)),
            codec: Codec::Vp8,
            delivery: Delivery::Frames,
        });
        let mut links = Vec::new();
        for (index, spec) in specs.iter().enumerate() {
            let path = PathId(index as u8);
            let up = Link::new(spec, rng.stream(&format!("up{index}")));
            let rtt = up.delay() * 2;
            sender.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
            let path = receivers_path(index, specs.len());
            receiver.handle_input(Instant::ZERO, Input::PathUp { path, rtt });
            links.push(Pair {
                up,
                down: Link::new(spec, rng.stream(&format!("down{index}"))),
                rtt,
                reported_down: false,
                verdict_at: None,
                next_check: Instant::ZERO,
            });
        }
        World {
            now: Instant::ZERO,
            meddling: Meddling::None,
            sender,
            receiver,
            links,
            stream,
            next_frame: Instant::ZERO,
            source: Source::new(Rate::from_kbps(600), rng.stream("frames")),
            shown: Vec::new(),
            keyframe_in: false,
            sound: None,
            lies: lies::Lies::default(),
            janus: None,
        }
    }

    pub fn set_max_rate(&mut self, rate: Rate) {
        self.sender.set_max_rate(self.now, rate);
    }

    pub fn set_policy(&mut self, link: usize, policy: Policy) {
        let path = PathId(link as u8);
        self.sender.set_path_policy(self.now, path, policy);
    }

    pub fn cut(&mut self, link: usize) {
        let now = self.now;
        self.links[link].up.cut(now);
        self.links[link].down.cut(now);
    }

    pub fn restore(&mut self, link: usize) {
        let now = self.now;
        self.links[link].up.restore(now);
        self.links[link].down.restore(now);
    }

    pub fn run(&mut self, span: Duration) {
        let end = self.now + span;
        while self.now < end {
            self.step();
            self.now = self.next_event().clamp(self.now, end);
        }
    }

    fn next_event(&self) -> Instant {
        let mut next = self.next_frame;
        if let Some(sound) = &self.sound {
            next = next.min(sound.next);
        }
        let mut consider = |at: Option<Instant>| {
            if let Some(at) = at {
                next = next.min(at);
            }
        };
        consider(self.sender.poll_timeout().map(|d| d.at));
        consider(self.receiver.poll_timeout().map(|d| d.at));
        for link in &self.links {
            consider(link.up.poll_timeout().map(|d| d.at));
            consider(link.down.poll_timeout().map(|d| d.at));
            consider(link.verdict_at);
            consider(link.reported_down.then_some(link.next_check));
        }
        next.max(self.now + Duration::from_nanos(1))
    }

    fn step(&mut self) {
        let now = self.now;
        if now >= self.next_frame {
            self.send_frame();
        }
        self.send_sound();
        self.deliver();
        self.check_links();
        self.sender.handle_input(now, Input::Timeout);
        self.receiver.handle_input(now, Input::Timeout);
        self.drain();
    }

    fn send_frame(&mut self) {
        let now = self.now;
        self.next_frame += FRAME_INTERVAL;
        let picture = self.source.capture(now);
        let frame = Frame {
            keyframe: picture.keyframe,
            ..Frame::new(&picture.data, picture.timestamp, now)
        };
        self.sender
            .send_frame(now, self.stream, &frame)
            .expect("the stream exists");
    }

    /// Sends an empty frame of an encoder.
    pub fn send_empty_frame(&mut self) {
        let frame = Frame::new(&[], 0, self.now);
        self.sender
            .send_frame(self.now, self.stream, &frame)
            .expect("the stream exists");
    }

    fn deliver(&mut self) {
        let now = self.now;
        let count = self.links.len();
        for (index, link) in self.links.iter_mut().enumerate() {
            for (direction, session, path, is_report) in [
                (
                    &mut link.up,
                    &mut self.receiver,
                    receivers_path(index, count),
                    false,
                ),
                (&mut link.down, &mut self.sender, PathId(index as u8), true),
            ] {
                while let Some(departure) = direction.poll(now) {
                    let Departure::Delivered { packet, ecn, .. } = departure else {
                        continue;
                    };
                    let again = packet.has_come.replace(true);
                    let protocol = packet.protocol;
                    let told = match (protocol, is_report, &mut self.janus) {
                        (Protocol::Rtcp, true, None) => Some(self.lies.told(&packet.bytes)),
                        (Protocol::Rtcp, true, Some(janus)) => Some(janus.told(now, &packet.bytes)),
                        (Protocol::Rtp, false, Some(janus)) => Some(janus.passed(&packet.bytes)),
                        _ => None,
                    };
                    if told.as_ref().is_some_and(Vec::is_empty) {
                        continue;
                    }
                    let packet = told.as_ref().unwrap_or(&packet.bytes);
                    let input = match (protocol, again) {
                        (Protocol::Rtp, false) => Input::Rtp { path, ecn, packet },
                        (Protocol::Rtp, true) => Input::RtpAgain { path, ecn, packet },
                        (Protocol::Rtcp, false) => Input::Rtcp { path, packet },
                        (Protocol::Rtcp, true) => continue,
                    };
                    session.handle_input(now, input);
                }
            }
        }
    }

    /// Simulates the association: verdicts on suspicions, and checks of dead paths.
    fn check_links(&mut self) {
        let now = self.now;
        let others_up = |links: &[Pair], not: usize| {
            links
                .iter()
                .enumerate()
                .any(|(i, l)| i != not && l.up.is_up())
        };
        let count = self.links.len();
        for index in 0..count {
            let path = PathId(index as u8);
            let alive_elsewhere = others_up(&self.links, index);
            let link = &mut self.links[index];
            if link.verdict_at.is_some_and(|at| at <= now) {
                link.verdict_at = None;
                if !link.up.is_up() && alive_elsewhere && !link.reported_down {
                    link.reported_down = true;
                    link.next_check = now + CHECKS;
                    self.sender.handle_input(now, Input::PathDown { path });
                    let path = receivers_path(index, count);
                    self.receiver.handle_input(now, Input::PathDown { path });
                }
            }
            if link.reported_down && link.next_check <= now {
                link.next_check = now + CHECKS;
                if link.up.is_up() {
                    link.reported_down = false;
                    let rtt = link.rtt;
                    self.sender.handle_input(now, Input::PathUp { path, rtt });
                    let path = receivers_path(index, count);
                    self.receiver.handle_input(now, Input::PathUp { path, rtt });
                }
            }
        }
    }

    fn drain(&mut self) {
        while let Some(output) = self.sender.poll_output() {
            match output {
                Output::Transmit(transmit) => self.transmit(transmit, true),
                Output::Repeat(_) => unreachable!("the streams have RTX"),
                Output::SuspectPath(path) => {
                    let link = &mut self.links[usize::from(path.0)];
                    link.verdict_at = Some(self.now + VERDICT + link.rtt);
                }
                Output::Event(Event::KeyframeRequested { .. }) => {
                    self.source.keyframe_wanted = true;
                }
                Output::Event(Event::TargetRateChanged { rate }) => self.source.rate = rate,
                Output::Event(_) => {}
            }
        }
        while let Some(output) = self.receiver.poll_output() {
            match output {
                Output::Transmit(transmit) => self.transmit(transmit, false),
                Output::Event(Event::FrameReceived { stream, frame })
                    if self.sound.as_ref().is_some_and(|s| s.receives(stream)) =>
                {
                    if let Some(sound) = &mut self.sound {
                        sound.hear(self.now, &frame);
                    }
                }
                Output::Event(Event::FrameReceived { frame, .. }) => {
                    self.keyframe_in |= frame.keyframe;
                    assert!(self.keyframe_in, "a delta frame before any keyframe");
                    let Stamp { captured, .. } = Stamp::of(&frame.data).expect("a whole picture");
                    self.shown.push(Shown {
                        at: self.now,
                        captured,
                        bytes: frame.data.len(),
                    });
                }
                _ => {}
            }
        }
    }

    fn transmit(&mut self, mut transmit: Transmit, upward: bool) {
        let now = self.now;
        let (path, ecn, protocol) = (transmit.path, transmit.ecn, transmit.protocol);
        let copies = std::mem::take(&mut transmit.copies);
        let packet = transmit.into_packet();
        let has_come = Rc::default();
        let copies = copies.into_iter().map(|path| (path, Ecn::NotEct));
        for (id, ecn) in std::iter::once((path, ecn)).chain(copies) {
            let count = self.links.len();
            let link = match upward {
                true => &mut self.links[usize::from(id.0)],
                false => &mut self.links[count - 1 - usize::from(id.0)],
            };
            let size = Bytes(packet.len() as u64 + OVERHEAD);
            let copy = Packet {
                protocol,
                bytes: packet.clone(),
                has_come: Rc::clone(&has_come),
            };
            let meddling = self.meddling;
            let ecn = match meddling {
                Meddling::Bleaches => Ecn::NotEct,
                Meddling::Drops if ecn.is_capable() => continue,
                Meddling::None | Meddling::Drops => ecn,
            };
            let direction = if upward { &mut link.up } else { &mut link.down };
            direction.enqueue(now, PacketInfo::new(size).with_ecn(ecn), copy);
        }
    }

    /// Injects a packet from the network that the sender has not sent.
    pub fn inject(&mut self, packet: Vec<u8>) {
        let path = receivers_path(0, self.links.len());
        let (ecn, packet) = (Ecn::NotEct, &packet);
        self.receiver
            .handle_input(self.now, Input::Rtp { path, ecn, packet });
    }

    pub fn set_controller(&mut self, kind: weft_session::ControllerKind) {
        self.sender.set_controller(self.now, kind);
    }

    pub fn set_protection(&mut self, protection: ProtectionKind) {
        self.sender.set_protection(protection);
    }
}
