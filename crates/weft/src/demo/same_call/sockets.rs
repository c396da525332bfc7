//! Call over sockets. One peer has a socket and a relay for each link; the other has a
//! single socket, the target of all relays.

use std::net::{SocketAddr, UdpSocket};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};

use weft_experiment::{CameraSetup, SideSetup};
use weft_ice::{IceRole, LinkId, LocalAddress, RemoteCandidate, RemoteFilter};
use weft_net::{Application, Clock, Context, Driver, Remote};
use weft_peer::{AnswerPolicy, Event, Offer, Peer, PeerConfig, PeerKey, Section, StreamDirection};
use weft_publish::Publisher;
use weft_secure::Certificate;
use weft_session::{Delivery, Event as SessionEvent, Frame};
use weft_sim::Camera;
use weft_units::{Deadline, Instant, MediaKind, Rate, Rng, StreamId, Transport};

use super::super::relay::{Relay, RelayHandle};
use super::{Case, ShownPicture};
use weft_endpoint::sources::rtp_timestamp;

/// Ticks of a second of video (RFC 7741 section 3).
const VIDEO_CLOCK: u64 = 90_000;
/// Position of a picture's number, beyond the bytes that payload formats read.
const NUMBER: std::ops::Range<usize> = 16..24;

/// Pictures by number.
type Pictures = Arc<Mutex<Vec<ShownPicture>>>;

/// Runs the case in real time.
pub(super) fn run(case: &Case, seed: u64) -> Vec<ShownPicture> {
    let clock = Clock::start();
    let pictures = Pictures::default();
    let certificate = || Certificate::generate().expect("the system has randomness");
    let (call, far) = (case.call(), bind());
    let relays: Vec<RelayHandle> = case
        .links()
        .map(|link| Relay::start(&link.name, &link.medium, far.1, seed).expect("a relay"))
        .collect();
    let near: Vec<(UdpSocket, SocketAddr)> = relays.iter().map(|_| bind()).collect();
    let local = |addr, link, remotes| LocalAddress {
        transport: Transport::Udp,
        addr,
        link: LinkId(link),
        cost: 0,
        remotes,
    };
    let locals = (0..)
        .zip(near.iter().zip(&relays))
        .map(|(link, (own, relay))| local(own.1, link, RemoteFilter::Only(vec![relay.address()])));
    let role = IceRole::Controlling;
    let config = weft_net::peer_config(role, clock, certificate(), locals.collect());
    let offerer = with(config.expect("randomness"), &call.caller);
    let section = Section::new(MediaKind::Video, StreamDirection::Send);
    let offer = Offer::new(clock.now(), offerer, &[section], Delivery::Frames);
    let locals = vec![local(far.1, 0, RemoteFilter::Any)];
    let config = weft_net::peer_config(IceRole::Controlled, clock, certificate(), locals);
    let answerer = with(config.expect("randomness"), &call.callee);
    let policy = AnswerPolicy {
        receive: Some(Delivery::Frames),
        send: Vec::new(),
    };
    let answered = weft_peer::answer(clock.now(), answerer, &offer.sdp(), &policy);
    let (callee, sdp) = answered.expect("the offer is good");
    let mut caller = offer.accept(clock.now(), &sdp).expect("the answer is good");
    for (index, relay) in (0..).zip(&relays) {
        let candidate = RemoteCandidate {
            addr: relay.address(),
            priority: u32::MAX - index,
        };
        caller.add_remote_candidate(clock.now(), candidate);
    }
    let (begun, begins) = channel();
    let filming = End {
        setup: Some((call.caller.cameras[0].clone(), Rng::new(seed))),
        ..End::new(&pictures, begun)
    };
    let watching = End::new(&pictures, channel().0);
    let near = near.into_iter().map(|(socket, _)| socket).collect();
    let caller = start("caller", clock, near, filming, caller);
    let callee = start("callee", clock, vec![far.0], watching, callee);
    let patience = std::time::Duration::from_secs(20);
    begins.recv_timeout(patience).expect("they connect");
    // A timer of the test: the channel never receives a message.
    let _ = begins.recv_timeout(case.setup.duration.into());
    for end in [caller, callee] {
        end.remote.send(Command::Stop);
        end.join().expect("it does not panic");
    }
    let pictures = pictures.lock().expect("no thread panicked");
    pictures.clone()
}

fn bind() -> (UdpSocket, SocketAddr) {
    let address = "127.0.0.1:0".parse().expect("an address");
    let socket = weft_net::open_address(address).expect("loopback");
    let address = socket.local_addr().expect("it is bound");
    (socket, address)
}

fn with(mut config: PeerConfig, side: &SideSetup) -> PeerConfig {
    side.configure(&mut config.session);
    config
}

fn start(
    name: &str,
    clock: Clock,
    sockets: Vec<UdpSocket>,
    end: End,
    peer: Peer,
) -> Driver<Command> {
    let driver = Driver::start(name, clock, sockets, end).expect("a thread");
    let remote: &Remote<Command> = &driver.remote;
    assert!(remote.send(Command::Insert(Box::new(peer))));
    driver
}

enum Command {
    Insert(Box<Peer>),
    Stop,
}

/// End of the call.
struct End {
    pictures: Pictures,
    begun: Sender<()>,
    /// Camera to start after the connection.
    setup: Option<(CameraSetup, Rng)>,
    camera: Option<Camera>,
    publisher: Publisher<PeerKey>,
    peer: Option<PeerKey>,
    stream: Option<StreamId>,
}

impl End {
    fn new(pictures: &Pictures, begun: Sender<()>) -> End {
        End {
            pictures: Arc::clone(pictures),
            begun,
            setup: None,
            camera: None,
            publisher: Publisher::new([]),
            peer: None,
            stream: None,
        }
    }

    fn begin(&mut self, now: Instant, peer: PeerKey, rate: Rate) {
        let Some((setup, rng)) = self.setup.take() else {
            return;
        };
        self.camera = Some(Camera::new(&setup, now, rng));
        self.publisher = Publisher::new([Some(setup.max_rate)]);
        let streams = self.stream.into_iter().collect();
        self.publisher.handle_joined(peer, streams, Rate::ZERO);
        self.set_target(now, peer, rate);
        self.begun.send(()).expect("the test waits");
    }

    fn set_target(&mut self, now: Instant, peer: PeerKey, rate: Rate) {
        self.publisher.handle_target_rate(peer, rate);
        if let Some(camera) = &mut self.camera {
            camera.set_target(now, self.publisher.allowance(0).rate);
        }
    }

    fn on_session(&mut self, now: Instant, peer: PeerKey, event: &SessionEvent) {
        match event {
            SessionEvent::TargetRateChanged { rate } => self.set_target(now, peer, *rate),
            SessionEvent::KeyframeRequested { stream } => {
                self.publisher.handle_keyframe_request(peer, *stream);
            }
            SessionEvent::FrameReceived { frame, .. } => {
                let number = frame.data.get(NUMBER).and_then(|b| b.try_into().ok());
                let number = number.map_or(usize::MAX, |b| u64::from_be_bytes(b) as usize);
                let mut pictures = self.pictures.lock().expect("no thread panicked");
                if let Some(picture) = pictures.get_mut(number) {
                    picture.shown_at = Some(now);
                }
            }
            _ => {}
        }
    }

    fn film(&mut self, now: Instant, peer: &mut Peer, stream: StreamId) {
        let Some(camera) = self.camera.as_mut().filter(|c| c.next_at() <= now) else {
            return;
        };
        if let Some(key) = self.peer {
            let budget = peer.session().frame_budget(now);
            self.publisher.handle_frame_budget(key, budget);
        }
        let captured_at = camera.next_at();
        let Some(encoded) = camera.take_frame(now, &self.publisher.allowance(0)) else {
            return;
        };
        let mut pictures = self.pictures.lock().expect("no thread panicked");
        let mut data = vec![0; (encoded.size.0 as usize).max(NUMBER.end)];
        // RFC 6386 section 9.1: the lowest bit is zero in a keyframe.
        data[0] = u8::from(!encoded.keyframe);
        data[NUMBER].copy_from_slice(&(pictures.len() as u64).to_be_bytes());
        pictures.push(ShownPicture {
            captured_at,
            shown_at: None,
        });
        drop(pictures);
        let frame = Frame {
            data: &data,
            timestamp: rtp_timestamp(captured_at, VIDEO_CLOCK),
            keyframe: encoded.keyframe,
            temporal_layer: encoded.temporal_layer,
            layer_sync: encoded.layer_sync,
            non_reference: encoded.non_reference,
            captured_at,
            audio_level: None,
        };
        peer.send_frame(now, stream, &frame)
            .expect("the stream was negotiated");
    }
}

impl Application for End {
    type Command = Command;

    fn on_command(&mut self, context: &mut Context<'_>, command: Command) {
        match command {
            Command::Insert(peer) => {
                self.stream = peer.streams().first().map(|s| s.stream);
                self.peer = Some(context.insert(*peer));
            }
            Command::Stop => context.stop(),
        }
    }

    fn on_event(&mut self, context: &mut Context<'_>, peer: PeerKey, event: Event) {
        match event {
            Event::Association(weft_secure::Event::Connected { .. }) => {
                let rate = context.peers().get(peer);
                let rate = rate.map_or(Rate::ZERO, |p| p.session().target_rate());
                self.begin(context.now, peer, rate);
            }
            Event::Session(event) => self.on_session(context.now, peer, &event),
            Event::Association(_)
            | Event::AddressWanted { .. }
            | Event::Data(_)
            | Event::Packet(_) => {}
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let camera = self.camera.as_ref()?;
        let reason = "next picture";
        Some(Deadline {
            at: camera.next_at(),
            reason,
        })
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        let (now, stream) = (context.now, self.stream);
        let peer = self.peer.and_then(|key| context.peer(key));
        if let (Some(peer), Some(stream)) = (peer, stream) {
            self.film(now, peer, stream);
        }
    }
}
