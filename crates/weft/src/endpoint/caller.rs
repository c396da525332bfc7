//! The endpoint's side of the network driver: which peer gets which frames.

mod patience;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use weft_net::{Application, Clock, Context, Driver, DriverError, Remote};
use weft_peer::{Direction, Event, NegotiationError, Offer, Peer, PeerKey, Section};
use weft_secure::{Certificate, IceRole, RemoteCandidate};
use weft_session::{
    Delivery, Event as SessionEvent, Frame, MediaKind, ReceivedFrame, SchedulerKind, Stats,
};
use weft_units::{Deadline, Duration, Instant, PathId, Rate, StreamId};

use super::links::Links;
use super::sound::{self, SoundFrame};
use super::video::{VideoControl, VideoFrame};
pub use patience::Patience;

/// How this endpoint sends.
#[derive(Clone, Debug)]
pub struct Sending {
    pub scheduler: SchedulerKind,
    pub controller: weft_cc::ControllerKind,
    /// All cameras and the microphone together.
    pub max_rate: Rate,
    /// RTCP canonical name.
    pub cname: String,
}

/// An offer that waits for its answer, by number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OfferId(u64);

/// What other threads ask of the endpoint.
pub enum Command {
    /// Describe these sections.
    Offer {
        sections: Vec<Section>,
        reply: Sender<Result<(OfferId, String), CallError>>,
    },
    /// There will be no answer to an offer.
    Withdraw(OfferId),
    /// The answer to an offer has come. What happens then is told to `news`.
    Accept {
        offer: OfferId,
        answer: String,
        news: Sender<News>,
        reply: Sender<Result<PeerKey, CallError>>,
    },
    /// An encoded picture of a camera, for every peer that we send to.
    Video { camera: usize, frame: VideoFrame },
    /// A piece of sound, likewise.
    Sound(SoundFrame),
    /// End this peer.
    Close(PeerKey),
    /// Figures of all peers.
    Report(Sender<Vec<PeerReport>>),
    /// End everything.
    Stop,
}

/// What a peer's owner hears of it.
#[derive(Debug)]
pub enum News {
    /// Media can flow.
    Connected,
    /// It never will, or no more.
    Failed(String),
    /// A path changed: link, and whether it is usable.
    Path { link: String, up: bool },
    /// A frame that is due.
    Frame {
        kind: MediaKind,
        frame: ReceivedFrame,
    },
    /// The peer has ended its stream.
    Ended,
}

/// One peer's figures.
#[derive(Clone, Debug)]
pub struct PeerReport {
    pub peer: PeerKey,
    pub stats: Stats,
    /// The link of each path.
    pub links: BTreeMap<PathId, String>,
    pub connected: bool,
}

/// The endpoint cannot do this.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("{0}")]
    Negotiation(#[from] NegotiationError),
    #[error("{0}")]
    Entropy(#[from] weft_net::EntropyError),
    #[error("this offer was answered already or never made")]
    UnknownOffer,
    #[error("the network loop has ended")]
    Ended,
}

/// Peers do not share sockets: two associations between the same two
/// addresses could not be told apart.
struct Offered {
    offer: Offer,
    locals: Vec<SocketAddr>,
    patience: Patience,
}

struct Counterpart {
    news: Sender<News>,
    /// The peer's own sockets.
    locals: Vec<SocketAddr>,
    /// Sending streams: cameras in order, and the microphone's.
    cameras: Vec<StreamId>,
    microphone: Option<StreamId>,
    receivers: BTreeMap<StreamId, MediaKind>,
    links: BTreeMap<PathId, String>,
    rate: Rate,
    /// For a path that leads to it.
    patience: Patience,
    failed: bool,
}

/// Addresses of interfaces are looked up this often: a new link joins the
/// call within it, and a dead one was found dead by its silence long before.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// The application on the driver.
pub struct Caller {
    sending: Sending,
    certificate: Certificate,
    links: Links,
    names: Vec<String>,
    next_look: Instant,
    encoders: Vec<Arc<VideoControl>>,
    offers: BTreeMap<OfferId, Offered>,
    peers: BTreeMap<PeerKey, Counterpart>,
    next_offer: u64,
}

/// How many cameras this endpoint has and what controls them.
pub type Encoders = Vec<Arc<VideoControl>>;

/// Starts an endpoint on these links.
pub fn start(
    clock: Clock,
    links: Links,
    sending: Sending,
    encoders: Encoders,
) -> Result<Driver<Command>, StartError> {
    let certificate = Certificate::generate()?;
    let caller = Caller {
        sending,
        certificate,
        names: links.names(),
        links,
        next_look: clock.now() + LOOK_INTERVAL,
        encoders,
        offers: BTreeMap::new(),
        peers: BTreeMap::new(),
        next_offer: 0,
    };
    Ok(Driver::start("call", clock, Vec::new(), caller)?)
}

/// An endpoint cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error(transparent)]
    Certificate(#[from] weft_secure::CertificateError),
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// Sends a command and waits for its answer.
pub fn ask<T>(
    remote: &Remote<Command>,
    command: impl FnOnce(Sender<T>) -> Command,
) -> Result<T, CallError> {
    let (reply, answer) = channel();
    remote.send(command(reply));
    answer.recv().map_err(|_| CallError::Ended)
}

impl Application for Caller {
    type Command = Command;

    fn on_command(&mut self, context: &mut Context<'_>, command: Command) {
        match command {
            Command::Offer { sections, reply } => {
                let _ = reply.send(self.offer(context, &sections));
            }
            Command::Withdraw(offer) => self.withdraw(context, offer),
            Command::Accept {
                offer,
                answer,
                news,
                reply,
            } => {
                let _ = reply.send(self.accept(context, offer, &answer, news));
            }
            Command::Video { camera, frame } => self.send_video(context, camera, &frame),
            Command::Sound(frame) => self.send_sound(context, &frame),
            Command::Close(key) => self.close(context, key),
            Command::Report(reply) => {
                let _ = reply.send(self.report(context));
            }
            Command::Stop => {
                let keys: Vec<PeerKey> = self.peers.keys().copied().collect();
                for key in keys {
                    self.close(context, key);
                }
                context.stop();
            }
        }
    }

    fn on_event(&mut self, _context: &mut Context<'_>, key: PeerKey, event: Event) {
        match event {
            Event::Association(event) => self.on_association(key, event),
            Event::Session(event) => self.on_session(key, event),
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        Some(Deadline {
            at: self.next_look,
            reason: "links",
        })
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if context.now >= self.next_look {
            self.next_look = context.now + LOOK_INTERVAL;
            self.follow_links(context);
            self.give_up(context);
        }
    }
}

impl Caller {
    fn offer(
        &mut self,
        context: &mut Context<'_>,
        sections: &[Section],
    ) -> Result<(OfferId, String), CallError> {
        let mut locals = Vec::new();
        for access in self.links.open(&[]) {
            // A socket that cannot be watched is a path less.
            if context.add_socket(access.socket).is_ok() {
                locals.push(access.local);
            }
        }
        let (certificate, offered) = (self.certificate.clone(), locals.clone());
        let mut config =
            weft_net::peer_config(IceRole::Controlling, context.clock, certificate, offered)?;
        let session = &mut config.session;
        session.scheduler = self.sending.scheduler;
        session.controller = self.sending.controller;
        session.max_rate = self.sending.max_rate;
        session.cname.clone_from(&self.sending.cname);
        let offer = Offer::new(context.now, config, sections, Delivery::Frames);
        let id = OfferId(self.next_offer);
        self.next_offer += 1;
        let sdp = offer.sdp();
        let locals = locals.into_iter().map(|l| l.addr).collect();
        let offered = Offered {
            offer,
            locals,
            patience: Patience::from(context.now),
        };
        self.offers.insert(id, offered);
        Ok((id, sdp))
    }

    fn withdraw(&mut self, context: &mut Context<'_>, offer: OfferId) {
        let withdrawn = self.offers.remove(&offer);
        for local in withdrawn.into_iter().flat_map(|offered| offered.locals) {
            context.remove_socket(local);
        }
    }

    fn accept(
        &mut self,
        context: &mut Context<'_>,
        offer: OfferId,
        answer: &str,
        news: Sender<News>,
    ) -> Result<PeerKey, CallError> {
        let offered = self.offers.remove(&offer);
        let Offered { offer, locals, .. } = offered.ok_or(CallError::UnknownOffer)?;
        let accepted = offer.accept(context.now, answer);
        if accepted.is_err() {
            locals.iter().for_each(|l| context.remove_socket(*l));
        }
        let mut peer = accepted?;
        for (index, via) in self.links.vias().enumerate() {
            let candidate = RemoteCandidate {
                addr: via,
                priority: u32::MAX - index as u32,
            };
            peer.add_remote_candidate(context.now, candidate);
        }
        let counterpart = Counterpart::of(context.now, &peer, news, locals);
        let key = context.insert(peer);
        self.peers.insert(key, counterpart);
        Ok(key)
    }

    fn send_video(&mut self, context: &mut Context<'_>, camera: usize, frame: &VideoFrame) {
        let encoded = &frame.encoded;
        let mut backlog = Duration::ZERO;
        for (key, counterpart) in &self.peers {
            let Some(stream) = counterpart.cameras.get(camera) else {
                continue;
            };
            let now = context.now;
            let Some(peer) = context.peer(*key) else {
                continue;
            };
            let frame = Frame {
                data: &encoded.data,
                timestamp: frame.timestamp,
                keyframe: encoded.keyframe,
                temporal_layer: encoded.temporal_layer,
                layer_sync: encoded.layer_sync,
                non_reference: encoded.non_reference,
                captured_at: frame.taken_at,
            };
            if peer.send_frame(now, *stream, &frame).is_ok() {
                backlog = backlog.max(peer.session().backlog());
            }
        }
        if let Some(control) = self.encoders.get(camera) {
            control.set_backlog(backlog);
        }
    }

    fn send_sound(&mut self, context: &mut Context<'_>, sound: &SoundFrame) {
        for (key, counterpart) in &self.peers {
            let Some(stream) = counterpart.microphone else {
                continue;
            };
            let now = context.now;
            let Some(peer) = context.peer(*key) else {
                continue;
            };
            let frame = Frame {
                data: &sound.data,
                timestamp: sound.timestamp,
                keyframe: true,
                temporal_layer: None,
                layer_sync: false,
                non_reference: true,
                captured_at: sound.taken_at,
            };
            // The stream is the peer's own.
            let _ = peer.send_frame(now, stream, &frame);
        }
    }

    /// Interfaces get and lose addresses during a call: every peer gets a
    /// socket on each new one, and paths of those that went away end.
    fn follow_links(&mut self, context: &mut Context<'_>) {
        let present = self.links.present();
        for (key, counterpart) in &mut self.peers {
            let now = context.now;
            let used: Vec<IpAddr> = counterpart.locals.iter().map(SocketAddr::ip).collect();
            if present.iter().all(|ip| used.contains(ip)) && used.len() == present.len() {
                continue;
            }
            let gone = |l: &SocketAddr| !present.contains(&l.ip());
            for address in counterpart.locals.extract_if(.., |l| gone(l)) {
                if let Some(peer) = context.peer(*key) {
                    peer.remove_local(now, address);
                }
                context.remove_socket(address);
            }
            for access in self.links.open(&used) {
                if context.add_socket(access.socket).is_err() {
                    continue;
                }
                counterpart.locals.push(access.local.addr);
                if let Some(peer) = context.peer(*key) {
                    peer.add_local(now, access.local);
                }
            }
        }
    }

    fn close(&mut self, context: &mut Context<'_>, key: PeerKey) {
        context.remove(key);
        for local in self.peers.remove(&key).into_iter().flat_map(|c| c.locals) {
            context.remove_socket(local);
        }
        self.share_rate();
    }

    fn report(&self, context: &Context<'_>) -> Vec<PeerReport> {
        let report = |(key, counterpart): (&PeerKey, &Counterpart)| {
            let peer = context.peers().get(*key)?;
            Some(PeerReport {
                peer: *key,
                stats: peer.session().stats(),
                links: counterpart.links.clone(),
                connected: peer.is_connected(),
            })
        };
        self.peers.iter().filter_map(report).collect()
    }

    fn on_association(&mut self, key: PeerKey, event: weft_secure::Event) {
        let Some(counterpart) = self.peers.get_mut(&key) else {
            return;
        };
        let news = match event {
            weft_secure::Event::PathUp { path, link, .. } => {
                let name = self
                    .names
                    .get(usize::from(link.0))
                    .cloned()
                    .unwrap_or_default();
                counterpart.links.insert(path, name.clone());
                News::Path {
                    link: name,
                    up: true,
                }
            }
            weft_secure::Event::PathDown { path, .. } | weft_secure::Event::PathSilent { path } => {
                let link = counterpart.links.get(&path).cloned().unwrap_or_default();
                News::Path { link, up: false }
            }
            weft_secure::Event::Connected { .. } => News::Connected,
            weft_secure::Event::Failed { reason } => {
                counterpart.failed = true;
                News::Failed(format!("{reason:?}"))
            }
            weft_secure::Event::Selected { .. } => return,
        };
        let _ = counterpart.news.send(news);
    }

    fn on_session(&mut self, key: PeerKey, event: SessionEvent) {
        let Some(counterpart) = self.peers.get_mut(&key) else {
            return;
        };
        match event {
            SessionEvent::KeyframeRequested { stream } => {
                let camera = counterpart.cameras.iter().position(|s| *s == stream);
                if let Some(control) = camera.and_then(|c| self.encoders.get(c)) {
                    control.request_keyframe();
                }
            }
            SessionEvent::TargetRateChanged { rate } => {
                counterpart.rate = rate;
                self.share_rate();
            }
            SessionEvent::FrameReceived { stream, frame } => {
                let kind = counterpart.receivers.get(&stream).copied();
                if let Some(kind) = kind {
                    let _ = counterpart.news.send(News::Frame { kind, frame });
                }
            }
            SessionEvent::StreamEnded { .. } => {
                let _ = counterpart.news.send(News::Ended);
            }
            SessionEvent::PacketReceived { .. } | SessionEvent::PathStateChanged { .. } => {}
        }
    }

    /// Every camera gets the same share of what the slowest peer can take,
    /// after the sound.
    fn share_rate(&self) {
        let sending = self
            .peers
            .values()
            .filter(|p| !p.cameras.is_empty() && !p.failed);
        let rates = sending.map(|p| {
            let sound = if p.microphone.is_some() {
                sound::RATE
            } else {
                Rate::ZERO
            };
            p.rate.saturating_sub(sound)
        });
        // A peer that waits for a path holds up no other.
        let slowest = rates.clone().filter(|rate| *rate > Rate::ZERO).min();
        let Some(rate) = slowest.or_else(|| rates.min()) else {
            return;
        };
        let each = Rate::from_bps(rate.as_bps() / self.encoders.len().max(1) as u64);
        for control in &self.encoders {
            control.set_rate(each);
        }
    }
}

impl Counterpart {
    fn of(now: Instant, peer: &Peer, news: Sender<News>, locals: Vec<SocketAddr>) -> Counterpart {
        let sending = |kind| {
            let streams = peer.streams().iter();
            streams.filter(move |s| s.direction == Direction::Send && s.kind == kind)
        };
        let receivers = peer
            .streams()
            .iter()
            .filter(|s| s.direction == Direction::Receive);
        Counterpart {
            news,
            locals,
            cameras: sending(MediaKind::Video).map(|s| s.stream).collect(),
            microphone: sending(MediaKind::Audio).map(|s| s.stream).next(),
            receivers: receivers.map(|s| (s.stream, s.kind)).collect(),
            links: BTreeMap::new(),
            rate: Rate::ZERO,
            patience: Patience::from(now),
            failed: false,
        }
    }
}
