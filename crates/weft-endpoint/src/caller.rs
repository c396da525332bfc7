//! The endpoint's side of the network driver: which peer gets which frames.

mod following;
mod media;
mod news;
mod offers;
mod patience;
mod report;
mod sockets;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use weft_cc::ControllerKind;
use weft_ice::LinkId;
use weft_net::{Application, Clock, Context, Driver, DriverError, Remote};
use weft_peer::{Event, NegotiationError, Offer, Peer, PeerKey, Section};
use weft_publish::Publisher;
use weft_secure::Certificate;
use weft_session::{Preference, ProtectionKind, SchedulerKind};
use weft_units::{Codec, Deadline, Duration, Instant, PathId, Rate, StreamId};

use super::links::Links;
use super::notice::{Notice, Notices};
use super::sources::sound::SoundFrame;
use super::sources::video::{VideoControl, VideoFrame};
use following::{Following, Held};
pub use news::{Listener, News};
pub use patience::Patience;
pub use report::PeerReport;

/// A link without a path after this time carries nothing: several round trips
/// of the slowest networks. Chosen by us.
const SILENT_AFTER: Duration = Duration::from_secs(5);

/// How this endpoint sends.
#[derive(Clone, Debug)]
pub struct Sending {
    /// Which packets go over which path.
    pub scheduler: SchedulerKind,
    /// What its calls are spared first.
    pub preference: Preference,
    /// How many repair packets there are, towards peers that know them.
    pub protection: ProtectionKind,
    /// Of every path.
    pub controller: weft_cc::ControllerKind,
    /// Of the cameras.
    pub codec: Codec,
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
        /// What is sent and received, in order.
        sections: Vec<Section>,
        /// Its number, and the SDP.
        reply: Sender<Result<(OfferId, String), CallError>>,
    },
    /// There will be no answer to an offer.
    Withdraw(OfferId),
    /// The answer to an offer has come. What happens then is told to `news`.
    Accept {
        /// Each is answered once.
        offer: OfferId,
        /// In SDP.
        answer: String,
        /// Candidates that the answer does not name, tried after its own.
        more: Vec<SocketAddr>,
        /// Who hears of the peer.
        news: Listener,
        /// The peer that is made of it.
        reply: Sender<Result<PeerKey, CallError>>,
    },
    /// An encoded picture of a camera, for every peer that we send to.
    Video {
        /// Its place among the encoders.
        camera: usize,
        /// One for all peers: each cuts it into packets of its own.
        frame: VideoFrame,
    },
    /// A piece of sound, likewise.
    Sound(SoundFrame),
    /// Schedule with this one from now on, in every call.
    Schedule(SchedulerKind),
    /// Spare this first from now on, in every call.
    Prefer(Preference),
    /// Protect with this from now on, in every call.
    Protect(ProtectionKind),
    /// Control every path's rate with this from now on, in every call.
    Control(ControllerKind),
    /// The system says that links have changed.
    LinksChanged,
    /// End this peer.
    Close(PeerKey),
    /// Figures of all peers.
    Report(Sender<Vec<PeerReport>>),
    /// End everything.
    Stop,
}

/// What a stream is among those of its connection that flow its way.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Track {
    /// Pictures of the camera with this place in the description.
    Camera(usize),
    /// The microphone's.
    Sound,
}

impl fmt::Display for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // People count from one.
            Track::Camera(place) => write!(f, "camera {}", place + 1),
            Track::Sound => f.write_str("sound"),
        }
    }
}

/// The endpoint cannot do this.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// What the peer says cannot be agreed on.
    #[error("{0}")]
    Negotiation(#[from] NegotiationError),
    /// The system gives no randomness.
    #[error("{0}")]
    Entropy(#[from] weft_net::EntropyError),
    /// There is no such offer any more.
    #[error("this offer was answered already or never made")]
    UnknownOffer,
    /// The endpoint was stopped.
    #[error("the network loop has ended")]
    Ended,
}

/// Peers do not share sockets: two associations between the same two
/// addresses could not be told apart.
struct Offered {
    offer: Offer,
    locals: Vec<Held>,
    patience: Patience,
}

struct Counterpart {
    news: Listener,
    /// The peer's own sockets.
    locals: Vec<Held>,
    /// Paths that are usable, as far as their checks tell.
    live: BTreeMap<PathId, LinkId>,
    /// Sending streams: cameras in order, and the microphone's.
    cameras: Vec<StreamId>,
    microphone: Option<StreamId>,
    receivers: BTreeMap<StreamId, Track>,
    links: BTreeMap<PathId, String>,
    made: Instant,
    /// For a path that leads to it.
    patience: Patience,
    /// That none has led there yet is told.
    unanswered: bool,
    failed: bool,
}

/// The application on the driver.
pub struct Caller {
    sending: Sending,
    certificate: Certificate,
    following: Following,
    publisher: Publisher<PeerKey>,
    /// When the encoders hear next what their pictures may have.
    next_bound: Instant,
    encoders: Encoders,
    offers: BTreeMap<OfferId, Offered>,
    peers: BTreeMap<PeerKey, Counterpart>,
    next_offer: u64,
}

/// How many cameras this endpoint has and what controls them.
pub type Encoders = Vec<Arc<VideoControl>>;

/// Starts an endpoint on these links; `encoders` are told what rate they have.
///
/// # Errors
/// If the system gives no thread, readiness queue or randomness.
pub fn start(
    clock: Clock,
    links: Links,
    sending: Sending,
    encoders: Encoders,
    notices: Notices,
) -> Result<Driver<Command>, EndpointError> {
    let certificate = Certificate::generate()?;
    let may_change = links.may_change();
    let caller = Caller {
        sending,
        certificate,
        following: Following::new(clock.now(), links, notices.clone()),
        publisher: Publisher::new(encoders.iter().map(|_| None)),
        next_bound: Instant::ZERO,
        encoders,
        offers: BTreeMap::new(),
        peers: BTreeMap::new(),
        next_offer: 0,
    };
    let driver = Driver::start("call", clock, Vec::new(), caller)?;
    if may_change {
        let remote = driver.remote.clone();
        if let Err(error) = weft_net::watch_links(move || remote.send(Command::LinksChanged)) {
            notices.tell(Notice::LinksUnwatched(error));
        }
    }
    Ok(driver)
}

/// An endpoint cannot start.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// No certificate can be made for DTLS.
    #[error(transparent)]
    Certificate(#[from] weft_secure::CertificateError),
    /// The system gives no thread or readiness queue.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

/// Sends a command and waits for its answer.
///
/// # Errors
/// If the endpoint has ended.
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
                more,
                news,
                reply,
            } => {
                let _ = reply.send(self.accept(context, offer, (&answer, &more), news));
            }
            Command::Video { camera, frame } => self.send_video(context, camera, &frame),
            Command::Sound(frame) => self.send_sound(context, &frame),
            Command::Schedule(scheduler) => {
                self.sending.scheduler = scheduler;
                self.with_peers(context, |peer| peer.set_scheduler(scheduler));
            }
            Command::Prefer(preference) => {
                self.sending.preference = preference;
                let now = context.now;
                self.with_peers(context, |peer| peer.set_preference(now, preference));
            }
            Command::Protect(protection) => {
                self.sending.protection = protection;
                self.with_peers(context, |peer| peer.set_protection(protection));
            }
            Command::Control(controller) => {
                self.sending.controller = controller;
                let now = context.now;
                self.with_peers(context, |peer| peer.set_controller(now, controller));
            }
            Command::LinksChanged => self.following.look_soon(context.now),
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

    fn on_event(&mut self, context: &mut Context<'_>, key: PeerKey, event: Event) {
        match event {
            Event::Association(event) => self.on_association(context, key, event),
            Event::Session(event) => self.on_session(context.now, key, event),
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let links = Deadline {
            at: self.following.next_look,
            reason: "links",
        };
        let films = !self.encoders.is_empty() && !self.peers.is_empty();
        let pictures = films.then_some(Deadline {
            at: self.next_bound,
            reason: "pictures",
        });
        Deadline::earlier(Some(links), pictures)
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if context.now >= self.following.next_look {
            self.follow_links(context);
            self.give_up(context);
        }
        if context.now >= self.next_bound {
            self.bound_pictures(context);
        }
    }
}

impl Caller {
    fn with_peers(&self, context: &mut Context<'_>, mut change: impl FnMut(&mut Peer)) {
        for key in self.peers.keys() {
            if let Some(peer) = context.peer(*key) {
                change(peer);
            }
        }
    }

    fn close(&mut self, context: &mut Context<'_>, key: PeerKey) {
        context.remove(key);
        for held in self.peers.remove(&key).into_iter().flat_map(|c| c.locals) {
            self.following.close(context, held);
        }
        self.publisher.handle_left(&key);
        self.allow();
    }

    /// Links that have had the time to lead to a peer, and never did.
    fn silent(&self, now: Instant, peer: &Counterpart) -> BTreeSet<String> {
        let old = |held: &&Held| now.saturating_since(held.since.max(peer.made)) >= SILENT_AFTER;
        let names = peer.locals.iter().filter(old);
        let names = names.map(|held| self.following.links.name(held.link));
        let silent = names.filter(|name| !peer.links.values().any(|link| link == name));
        silent.map(str::to_owned).collect()
    }

    fn report(&self, context: &Context<'_>) -> Vec<PeerReport> {
        let report = |(key, counterpart): (&PeerKey, &Counterpart)| {
            let peer = context.peers().get(*key)?;
            Some(PeerReport {
                peer: *key,
                stats: peer.session().stats(),
                links: counterpart.links.clone(),
                all_links: self.following.links.figures(),
                silent: self.silent(context.now, counterpart),
                connected: peer.is_connected(),
                cameras: self
                    .encoders
                    .iter()
                    .take(counterpart.cameras.len())
                    .map(|control| control.report())
                    .collect(),
                tracks: counterpart.tracks(),
            })
        };
        self.peers.iter().filter_map(report).collect()
    }
}
