//! Native endpoint on its own driver: sends numbered frames and checks the
//! received ones.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, mpsc};
use weft_ice::{IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_net::{Application, Clock, Context, Driver};
use weft_peer::{
    AnswerPolicy, Event as PeerEvent, Offer, Peer, PeerConfig, PeerKey, Section, StreamDirection,
};
use weft_secure::{Certificate, Event as AssociationEvent};
use weft_session::receive::ReceivedFrame;
use weft_session::{Delivery, Event as SessionEvent, Frame, PathStats, ProtectionKind, Stats};
use weft_units::{Codec, Deadline, Duration, Instant, MediaKind, Rate, StreamId, Transport};

const FRAME_INTERVAL: Duration = Duration::from_millis(33);
const SOUND_INTERVAL: Duration = Duration::from_millis(20);
/// 1.4 Mbps at 30 frames a second.
const FRAME_SIZE: usize = 6_000;

/// Results of an endpoint so far.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    /// Numbers of received pictures, by index of their stream.
    pub(crate) cameras: BTreeMap<usize, Vec<u64>>,
    /// Pictures whose bytes differ from those sent on this stream.
    pub(crate) spoiled: u64,
    pub(crate) sounds: u64,
    pub(crate) keyframes_sent: u64,
    /// The peer has closed the association.
    pub(crate) closed: bool,
}

impl Seen {
    /// Frames of the first camera.
    pub(crate) fn frames(&self) -> Vec<u64> {
        self.of(0)
    }

    pub(crate) fn of(&self, camera: usize) -> Vec<u64> {
        self.cameras.get(&camera).cloned().unwrap_or_default()
    }
}

/// Sent tracks of an endpoint.
pub(crate) struct Source {
    next: Option<u64>,
    /// Codecs to send or to receive.
    codecs: Vec<Codec>,
    titles: Vec<Option<&'static str>>,
    cameras: Vec<Camera>,
    protection: ProtectionKind,
}

/// One of its video streams.
#[derive(Clone)]
struct Camera {
    /// Position in the pattern of temporal layers.
    phase: usize,
    keyframe_wanted: bool,
}

impl Source {
    /// Source with one camera, whose frames are numbered from here.
    pub(crate) fn new(first: u64) -> Source {
        Source {
            next: Some(first),
            ..Source::cameras(&[None])
        }
    }

    /// Source with a single video codec.
    pub(crate) fn with(self, codec: Codec) -> Source {
        let codecs = vec![codec, Codec::Opus];
        Source { codecs, ..self }
    }

    pub(crate) fn none() -> Source {
        Source {
            next: None,
            ..Source::cameras(&[None])
        }
    }

    /// Source with one camera per title, also for receiving.
    pub(crate) fn cameras(titles: &[Option<&'static str>]) -> Source {
        let camera = Camera {
            phase: 0,
            keyframe_wanted: true,
        };
        Source {
            next: Some(0),
            codecs: Codec::CODED.to_vec(),
            titles: titles.to_vec(),
            cameras: vec![camera; titles.len()],
            protection: ProtectionKind::default(),
        }
    }

    pub(crate) fn protected(self, protection: ProtectionKind) -> Source {
        Source { protection, ..self }
    }

    pub(crate) fn silent(self) -> Source {
        Source { next: None, ..self }
    }
}

pub(crate) struct Endpoint {
    driver: Driver<Order>,
    seen: Arc<Mutex<Seen>>,
    location: Mutex<String>,
}

enum Order {
    Offer(StreamDirection, Option<SocketAddr>, mpsc::Sender<String>),
    Answer(String, Option<SocketAddr>, mpsc::Sender<String>),
    Accept(String),
    Stats(mpsc::Sender<Option<Stats>>),
    Close,
}

impl Endpoint {
    pub(crate) fn start(addresses: &[&str], source: Source) -> Endpoint {
        let sockets: Vec<_> = addresses
            .iter()
            .map(|ip| weft_net::open_address(SocketAddr::new(ip.parse().unwrap(), 0)).unwrap())
            .collect();
        let clock = Clock::start();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let node = Node {
            clock,
            locals: sockets.iter().map(|s| s.local_addr().unwrap()).collect(),
            certificate: Certificate::generate().unwrap(),
            source,
            seen: Arc::clone(&seen),
            offer: None,
            peer: None,
            next_frame: None,
            next_sound: None,
        };
        Endpoint {
            driver: Driver::start("endpoint", clock, sockets, node).unwrap(),
            seen,
            location: Mutex::default(),
        }
    }

    pub(crate) fn seen(&self) -> Seen {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn location(&self) -> String {
        self.location.lock().unwrap().clone()
    }

    pub(crate) fn offer_to_send(&self) -> String {
        self.ask(|reply| Order::Offer(StreamDirection::Send, None, reply))
    }

    /// Offer to send through `relay` only.
    pub(crate) fn offer_to_send_through(&self, relay: SocketAddr) -> String {
        self.ask(|reply| Order::Offer(StreamDirection::Send, Some(relay), reply))
    }

    pub(crate) fn offer_to_receive(&self) -> String {
        self.ask(|reply| Order::Offer(StreamDirection::Receive, None, reply))
    }

    pub(crate) fn accept(&self, answer: &str, location: &str) {
        location.clone_into(&mut self.location.lock().unwrap());
        self.driver.remote.send(Order::Accept(answer.to_owned()));
    }

    /// Answer to an offer; through `relay` only, if there is one.
    pub(crate) fn answer(&self, offer: &str, location: &str, relay: Option<SocketAddr>) -> String {
        location.clone_into(&mut self.location.lock().unwrap());
        self.ask(|reply| Order::Answer(offer.to_owned(), relay, reply))
    }

    pub(crate) fn paths(&self) -> Vec<PathStats> {
        self.stats().paths
    }

    /// Statistics of its session, after it exists.
    pub(crate) fn stats(&self) -> Stats {
        self.ask(Order::Stats).expect("a session")
    }

    pub(crate) fn close(&self) {
        self.driver.remote.send(Order::Close);
    }

    fn ask<T>(&self, order: impl FnOnce(mpsc::Sender<T>) -> Order) -> T {
        let (reply, answer) = mpsc::channel();
        assert!(self.driver.remote.send(order(reply)));
        answer.recv().unwrap()
    }

    /// Waits for this many pictures; returns the first and last number.
    pub(crate) fn wait_for_frames(&self, count: u64) -> (u64, u64) {
        crate::room::wait_for(&format!("{count} frames"), || {
            self.seen.lock().unwrap().frames().len() as u64 >= count
        });
        let frames = self.seen().frames();
        (frames[0], frames[frames.len() - 1])
    }

    /// Waits for this many pictures from each of these cameras.
    pub(crate) fn wait_for_cameras(&self, cameras: usize, count: usize) -> Seen {
        crate::room::wait_for(&format!("{count} frames of {cameras} cameras"), || {
            let seen = self.seen.lock().unwrap();
            (0..cameras).all(|c| seen.of(c).len() >= count)
        });
        self.seen()
    }
}

struct Node {
    clock: Clock,
    locals: Vec<SocketAddr>,
    certificate: Certificate,
    source: Source,
    seen: Arc<Mutex<Seen>>,
    offer: Option<Offer>,
    peer: Option<PeerKey>,
    next_frame: Option<Instant>,
    next_sound: Option<Instant>,
}

impl Node {
    fn config(&self, role: IceRole, relay: Option<SocketAddr>) -> PeerConfig {
        let local = |(addr, link): (&SocketAddr, u8)| LocalAddress {
            transport: Transport::Udp,
            addr: *addr,
            link: LinkId(link),
            cost: 0,
            remotes: relay.map_or(RemoteFilter::Any, |relay| RemoteFilter::Only(vec![relay])),
        };
        let locals = self.locals.iter().zip(0..).map(local).collect();
        let mut config =
            weft_net::peer_config(role, self.clock, self.certificate.clone(), locals).unwrap();
        config.session.path_limits.start = Rate::from_mbps(2);
        config.session.max_rate = Rate::from_mbps(4);
        config.session.protection = self.source.protection;
        config.codecs.clone_from(&self.source.codecs);
        config
    }

    fn send_frames(&mut self, now: Instant, peer: &mut Peer) {
        let Some(number) = self.source.next else {
            return;
        };
        self.source.next = Some(number + 1);
        for (place, stream) in streams_of(peer, MediaKind::Video).into_iter().enumerate() {
            self.send_frame(now, peer, (place, stream), number);
        }
    }

    fn send_frame(
        &mut self,
        now: Instant,
        peer: &mut Peer,
        (place, stream): (usize, StreamId),
        number: u64,
    ) {
        /// Three temporal layers in the order of encoders.
        const LAYERS: [u8; 4] = [0, 2, 1, 2];
        let camera = &mut self.source.cameras[place];
        let keyframe = std::mem::take(&mut camera.keyframe_wanted);
        let phase = if keyframe { 0 } else { camera.phase };
        camera.phase = (phase + 1) % LAYERS.len();
        if keyframe {
            self.seen.lock().unwrap().keyframes_sent += 1;
        }
        let mut agreed = peer.streams().iter().map(|s| s.codec());
        let agreed = agreed.find(|c| c.kind() == MediaKind::Video).unwrap();
        let layered = agreed == Codec::Vp8;
        let frame = Frame {
            data: &picture(agreed, place, number, keyframe),
            timestamp: (number * 2_970) as u32,
            keyframe,
            temporal_layer: layered.then_some(LAYERS[phase]),
            layer_sync: layered && (phase == 1 || phase == 2),
            non_reference: layered && LAYERS[phase] == 2,
            captured_at: now,
            audio_level: None,
        };
        peer.send_frame(now, stream, &frame).unwrap();
    }

    fn send_sound(&mut self, now: Instant, peer: &mut Peer) {
        let frame = Frame::new(&[0xfc; 80], (now.as_nanos() / 1_000_000 * 48) as u32, now);
        let stream = streams_of(peer, MediaKind::Audio)[0];
        peer.send_frame(now, stream, &frame).unwrap();
    }
}

fn streams_of(peer: &Peer, kind: MediaKind) -> Vec<StreamId> {
    let found = peer.streams().iter().filter(|s| s.codec().kind() == kind);
    found.map(|s| s.stream).collect()
}

/// Start of a VP8 frame, which everything except a decoder can read (RFC 6386 section
/// 9.1), followed by its camera, its number, and bytes that depend on it.
fn picture(codec: Codec, camera: usize, number: u64, keyframe: bool) -> Vec<u8> {
    if codec == Codec::H264 {
        return h264_picture(number, keyframe);
    }
    let mut data = match keyframe {
        true => vec![0x10, 0, 0, 0x9d, 0x01, 0x2a, 64, 1, 180, 0],
        false => vec![0x11, 0, 0],
    };
    data.push(camera as u8);
    data.extend(number.to_be_bytes());
    data.resize(FRAME_SIZE, number as u8);
    data
}

/// H.264 counterpart of [`picture`] (ITU-T H.264 Annex B): parameter sets
/// before a keyframe, and one slice without zeros, which would look like start
/// codes.
fn h264_picture(number: u64, keyframe: bool) -> Vec<u8> {
    let mut data = Vec::new();
    if keyframe {
        data.extend([0, 0, 0, 1, 0x67, 0x42, 0xc0, 0x1f]);
        data.extend([0, 0, 0, 1, 0x68, 0xce, 0x3c]);
    }
    data.extend([0, 0, 0, 1, if keyframe { 0x65 } else { 0x41 }]);
    data.extend(
        (0..9)
            .rev()
            .map(|group| 0x80 | (number >> (7 * group)) as u8),
    );
    data.resize(FRAME_SIZE, number as u8 | 1);
    data
}

fn check_h264(frame: &ReceivedFrame) -> Option<u64> {
    let at = if frame.keyframe { 20 } else { 5 };
    let groups = frame.data.get(at..at + 9)?;
    let number = groups.iter().fold(0, |n, g| n << 7 | u64::from(g & 0x7f));
    (frame.data == h264_picture(number, frame.keyframe)).then_some(number)
}

fn check(camera: usize, frame: &ReceivedFrame) -> Option<u64> {
    if frame.codec == Codec::H264 {
        return check_h264(frame);
    }
    let at = if frame.keyframe { 11 } else { 4 };
    let number = frame.data.get(at..at + 8)?;
    let number = u64::from_be_bytes(number.try_into().ok()?);
    (frame.data == picture(frame.codec, camera, number, frame.keyframe)).then_some(number)
}

/// Removes candidates, so that the endpoint is reachable only through addresses
/// that it sends from.
fn without_candidates(sdp: &str) -> String {
    let lines = sdp.lines().filter(|l| !l.starts_with("a=candidate"));
    lines.flat_map(|l| [l, "\r\n"]).collect()
}

impl Application for Node {
    type Command = Order;

    fn on_command(&mut self, context: &mut Context<'_>, order: Order) {
        match order {
            Order::Offer(direction, relay, reply) => {
                let config = self.config(IceRole::Controlling, relay);
                let camera = |title: &Option<&str>| Section {
                    title: title.map(str::to_owned),
                    ..Section::new(MediaKind::Video, direction)
                };
                let cameras = self.source.titles.iter().map(camera);
                let sound = Section::new(MediaKind::Audio, direction);
                let sections: Vec<Section> = cameras.chain([sound]).collect();
                let offer = Offer::new(context.now, config, &sections, Delivery::Frames);
                let sdp = offer.sdp();
                let sdp = relay.map_or(sdp.clone(), |_| without_candidates(&sdp));
                reply.send(sdp).unwrap();
                self.offer = Some(offer);
            }
            Order::Accept(answer) => {
                let offer = self.offer.take().unwrap();
                let peer = offer.accept(context.now, &answer).unwrap();
                self.peer = Some(context.insert(peer));
            }
            Order::Answer(offer, relay, reply) => {
                let config = self.config(IceRole::Controlled, relay);
                let policy = AnswerPolicy {
                    receive: Some(Delivery::Frames),
                    send: Vec::new(),
                };
                let (peer, mut answer) =
                    weft_peer::answer(context.now, config, &offer, &policy).unwrap();
                if relay.is_some() {
                    answer = without_candidates(&answer);
                }
                self.peer = Some(context.insert(peer));
                reply.send(answer).unwrap();
            }
            Order::Stats(reply) => {
                let peer = self.peer.and_then(|key| context.peer(key));
                reply.send(peer.map(|p| p.session().stats())).unwrap();
            }
            Order::Close => {
                self.next_frame = None;
                self.next_sound = None;
                if let Some(key) = self.peer.take() {
                    context.remove(key);
                }
            }
        }
    }

    fn on_event(&mut self, context: &mut Context<'_>, key: PeerKey, event: PeerEvent) {
        let mut seen = self.seen.lock().unwrap();
        match event {
            PeerEvent::Association(AssociationEvent::Connected { .. })
                if self.source.next.is_some() =>
            {
                self.next_frame = Some(context.now);
                self.next_sound = Some(context.now);
            }
            PeerEvent::Association(AssociationEvent::Failed { .. }) => {
                seen.closed = true;
                self.next_frame = None;
                self.next_sound = None;
            }
            PeerEvent::Session(SessionEvent::KeyframeRequested { stream }) => {
                // It may be the last event of a closed connection.
                let peer = context.peers().get(key);
                let streams = peer.map(|p| streams_of(p, MediaKind::Video));
                let place = streams.and_then(|all| all.iter().position(|s| *s == stream));
                if let Some(place) = place {
                    self.source.cameras[place].keyframe_wanted = true;
                }
            }
            PeerEvent::Session(SessionEvent::FrameReceived { stream, frame }) => {
                let peer = context.peers().get(key).unwrap();
                let streams = streams_of(peer, MediaKind::Video);
                match streams.iter().position(|s| *s == stream) {
                    None => seen.sounds += 1,
                    Some(place) => match check(place, &frame) {
                        Some(number) => seen.cameras.entry(place).or_default().push(number),
                        None => seen.spoiled += 1,
                    },
                }
            }
            _ => {}
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let reason = "next frame";
        let at = [self.next_frame, self.next_sound]
            .into_iter()
            .flatten()
            .min()?;
        Some(Deadline { at, reason })
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        let now = context.now;
        let Some(peer) = self.peer.and_then(|key| context.peer(key)) else {
            return;
        };
        if let Some(at) = self.next_frame.filter(|at| *at <= now) {
            self.next_frame = Some(at + FRAME_INTERVAL);
            self.send_frames(now, peer);
        }
        if let Some(at) = self.next_sound.filter(|at| *at <= now) {
            self.next_sound = Some(at + SOUND_INTERVAL);
            self.send_sound(now, peer);
        }
    }
}
