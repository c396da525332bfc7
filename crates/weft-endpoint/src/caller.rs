//! Application of the network driver: routes frames to and from the peers.

mod channels;
mod error;
mod following;
mod media;
mod news;
mod offers;
mod relaying;
mod relays;
mod report;
mod sockets;
#[cfg(test)]
mod tests;
mod traced;
mod tracing;
mod wait;

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use weft_cc::ControllerKind;
use weft_ice::LinkId;
use weft_net::{Application, Clock, Context, Driver, Remote};
use weft_peer::data::{ChannelConfig, ChannelId};
use weft_peer::{Event, Offer, Peer, PeerKey, Section};
use weft_publish::Publisher;
use weft_secure::Certificate;
use weft_session::{Preference, ProtectionKind, SchedulerKind};
use weft_trace::live::Tracer;
use weft_units::{Codec, Deadline, Instant, PathId, Rate, StreamId};
use weft_wire::rtp::Mid;

use super::links::{LinkUse, Links};
use super::notice::{Notice, Notices};
use super::sources::smaller::{CameraEncoders, EncodingSize};
use super::sources::sound::SoundFrame;
use super::sources::video::VideoFrame;
use super::switches::Switch;
use super::turn::{TurnConnector, TurnNews, TurnServer};
pub use channels::{ChannelError, Said};
pub use error::{CallError, EndpointError};
use following::{Following, Held};
pub use news::{Listener, News};
pub use offers::Answered;
pub use relaying::RelayId;
use relaying::Relaying;
pub use report::PeerReport;
use tracing::Tracing;
pub use wait::Wait;

/// Sending parameters of an endpoint.
#[derive(Clone, Debug)]
pub struct Sending {
    /// Scheduler: chooses the path of each packet.
    pub scheduler: SchedulerKind,
    /// Preference: quality to protect first.
    pub preference: Preference,
    /// Protection: amount of repair packets, for peers that support them.
    pub protection: ProtectionKind,
    /// Congestion controller of every path.
    pub controller: weft_cc::ControllerKind,
    /// Codec of the cameras.
    pub codec: Codec,
    /// Maximum rate of all cameras and the microphone together.
    pub max_rate: Rate,
    /// RTCP canonical name.
    pub cname: String,
}

/// Whether the sound is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Muting {
    /// Sound is sent to every peer.
    #[default]
    Off,
    /// Sound is sent to no peer.
    On,
}

/// Number of an offer that waits for its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OfferId(u64);

/// Command from another thread.
pub enum Command {
    /// Creates an offer for these sections.
    Offer {
        /// Sections to send and receive, in order.
        sections: Vec<Section>,
        /// Receives the offer's number and its SDP.
        reply: Sender<Result<(OfferId, String), CallError>>,
    },
    /// Withdraws an offer that will not be answered.
    Withdraw(OfferId),
    /// Accepts the answer to an offer. Later events go to `news`.
    Accept {
        /// Offer; each accepts one answer.
        offer: OfferId,
        /// Answer in SDP.
        answer: String,
        /// Candidates missing in the answer, tried after its own.
        more: Vec<SocketAddr>,
        /// Listener for the peer's events.
        news: Listener,
        /// Receives the new peer.
        reply: Sender<Result<PeerKey, CallError>>,
    },
    /// Answers an offer of the other side with a new peer, which receives everything
    /// that the offer sends.
    Answer {
        /// Offer in SDP.
        offer: String,
        /// Candidates missing in the offer, tried after its own.
        more: Vec<SocketAddr>,
        /// Listener for the peer's events.
        news: Listener,
        /// Receives the new peer.
        reply: Sender<Result<Answered, CallError>>,
    },
    /// Answers a later offer of a peer that answered its first one.
    AnswerLater {
        /// Peer that the offer is for.
        peer: PeerKey,
        /// Offer in SDP.
        offer: String,
        /// Receives the answer in SDP.
        reply: Sender<Result<String, CallError>>,
    },
    /// Requests a keyframe of the pictures that a peer sends in a media section.
    RequestKeyframe(PeerKey, Mid),
    /// Sends this peer a limit for its sending rate.
    LimitPeer(PeerKey, Rate),
    /// Sends an encoded picture of a camera to every peer.
    Video {
        /// Index of the camera.
        camera: usize,
        /// Its encoding.
        size: EncodingSize,
        /// Frame shared by all peers; each splits it into packets.
        frame: VideoFrame,
    },
    /// Sends a sound frame to every peer.
    Sound(SoundFrame),
    /// Mutes or unmutes the sound for every peer.
    Mute(Muting),
    /// Switches the encoding of all cameras.
    Film(Switch),
    /// Changes the use of the link with this name.
    UseLink(String, LinkUse),
    /// Encodes only what somebody watches: for each camera, its encodings in the order of
    /// the description. Cameras beyond the list count as watched.
    Watched(Vec<Vec<bool>>),
    /// Sets the scheduler of every call from now on.
    Schedule(SchedulerKind),
    /// Sets the preference of every call from now on.
    Prefer(Preference),
    /// Sets the protection of every call from now on.
    Protect(ProtectionKind),
    /// Sets the congestion controller of every path in every call from now on.
    Control(ControllerKind),
    /// Uses TURN servers from now on: the configured ones, and those of
    /// [`Command::NameTurnServers`]. News of relays arrive as commands.
    UseTurn {
        /// Servers configured by the user.
        servers: Vec<TurnServer>,
        /// Connector to all servers.
        connector: Arc<dyn TurnConnector>,
        /// Sender of commands to this endpoint.
        remote: Remote<Command>,
    },
    /// Sets the TURN servers offered by the other side.
    NameTurnServers(Vec<TurnServer>),
    /// News of a relay.
    Relayed(RelayId, TurnNews),
    /// Reports that the system's links have changed.
    LinksChanged,
    /// Opens these data channels towards every future peer that we send to.
    UseChannels(Vec<ChannelConfig>),
    /// Sends a message on a data channel of every peer.
    Say(Said),
    /// Traces packets and events of every future peer.
    Trace(Tracer),
    /// Closes this peer.
    Close(PeerKey),
    /// Requests the statistics of all peers.
    Report(Sender<Vec<PeerReport>>),
    /// Stops the endpoint.
    Stop,
}

/// Identity of a stream among the streams of its connection in the same
/// direction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Track {
    /// Pictures of the camera at this index in the description.
    Camera(usize),
    /// Sound of the microphone.
    Sound,
}

impl fmt::Display for Track {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // Displayed numbers start at one.
            Track::Camera(place) => write!(f, "camera {}", place + 1),
            Track::Sound => f.write_str("sound"),
        }
    }
}

/// Peers do not share sockets, because two associations between the same two addresses
/// could not be told apart.
struct Offered {
    offer: Offer,
    locals: Vec<Held>,
    wait: Wait,
}

struct RemotePeer {
    news: Listener,
    /// Sockets of this peer.
    locals: Vec<Held>,
    /// Paths that are usable according to their connectivity checks.
    live: BTreeMap<PathId, LinkId>,
    /// Sending streams: cameras in order, then the microphone.
    cameras: Vec<StreamId>,
    /// Streams of the cameras' smaller encodings.
    smaller: Vec<Option<StreamId>>,
    microphone: Option<StreamId>,
    /// Media section of each received stream, and its index among sections of its kind.
    receivers: BTreeMap<StreamId, (Mid, Track)>,
    /// Link of each path.
    links: BTreeMap<PathId, Arc<str>>,
    made: Instant,
    /// Time at which each link lost its last path.
    lost: BTreeMap<LinkId, Instant>,
    /// Timeout without a path.
    wait: Wait,
    /// Data channels, with the indices of their configurations.
    channels: BTreeMap<ChannelId, usize>,
    /// Whether the missing answer was reported.
    unanswered: bool,
    failed: bool,
}

/// Application of the network driver.
pub struct Caller {
    sending: Sending,
    certificate: Certificate,
    following: Following,
    relaying: Relaying,
    publisher: Publisher<PeerKey>,
    /// Time of the next update of the encoders' budgets.
    next_bound: Instant,
    encoders: Encoders,
    /// Watched encodings of each camera, as last reported.
    watched: Vec<Vec<bool>>,
    offers: BTreeMap<OfferId, Offered>,
    peers: BTreeMap<PeerKey, RemotePeer>,
    next_offer: u64,
    muting: Muting,
    /// Data channels to open towards every peer.
    channels: Vec<ChannelConfig>,
    /// `None` if tracing is off.
    tracing: Option<Tracing>,
}

/// Encoders of each camera.
pub type Encoders = Vec<CameraEncoders>;

/// Starts an endpoint on these links; `encoders` receive their rates.
///
/// # Errors
/// If the system cannot provide a thread, readiness queue or randomness.
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
        relaying: Relaying::default(),
        publisher: Publisher::new(encoders.iter().map(|_| None)),
        next_bound: Instant::ZERO,
        encoders,
        watched: Vec::new(),
        offers: BTreeMap::new(),
        peers: BTreeMap::new(),
        next_offer: 0,
        muting: Muting::default(),
        channels: Vec::new(),
        tracing: None,
    };
    let driver = Driver::start("call", clock, Vec::new(), caller)?;
    if may_change {
        let remote = driver.remote.clone();
        if let Err(error) = weft_net::watch_links(move || remote.send(Command::LinksChanged)) {
            notices.send(Notice::LinksUnwatched(error));
        }
    }
    Ok(driver)
}

/// Sends a command and waits for the reply.
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
            Command::Answer {
                offer,
                more,
                news,
                reply,
            } => {
                let _ = reply.send(self.answer(context, (&offer, &more), news));
            }
            Command::AnswerLater { peer, offer, reply } => {
                let _ = reply.send(self.answer_later(context, peer, &offer));
            }
            Command::RequestKeyframe(peer, mid) => self.request_keyframe(context, peer, mid),
            Command::LimitPeer(key, rate) => {
                let now = context.now;
                if let Some(peer) = context.peer(key) {
                    peer.set_peer_limit(now, rate);
                }
            }
            Command::Video {
                camera,
                size,
                frame,
            } => self.send_video(context, (camera, size), &frame),
            Command::Sound(frame) => self.send_sound(context, &frame),
            Command::Watched(cameras) => {
                self.watched = cameras;
                self.watch();
            }
            Command::Mute(muting) => self.muting = muting,
            Command::Film(cameras) => {
                for encoders in &self.encoders {
                    let smaller = encoders.smaller.as_ref().map(|s| &s.control);
                    for control in smaller.into_iter().chain([&encoders.full]) {
                        control.set_filming(cameras);
                    }
                }
            }
            Command::UseLink(link, usage) => self.use_link(context, &link, usage),
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
            Command::UseTurn {
                servers,
                connector,
                remote,
            } => self.use_turn(context.now, servers, (connector, remote)),
            Command::NameTurnServers(servers) => self.name_turn_servers(context.now, servers),
            Command::Relayed(id, news) => self.on_relay_news(context, id, news),
            Command::LinksChanged => self.following.look_soon(context.now),
            Command::UseChannels(channels) => self.channels = channels,
            Command::Say(said) => self.say(context, said),
            Command::Trace(tracer) => self.tracing = Some(Tracing::new(tracer, context.clock)),
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
        self.trace_event(context.now, key, &event);
        match event {
            Event::Association(event) => self.on_association(context, key, event),
            Event::Session(event) => self.on_session(context.now, key, event),
            Event::AddressWanted { beside } => self.add_address(context, key, beside),
            Event::Data(event) => self.on_data(key, event),
            Event::Packet(packet) => self.trace_packet(context.now, key, *packet),
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
        let samples = self.tracing.as_ref().filter(|_| !self.peers.is_empty());
        let samples = samples.map(|tracing| Deadline {
            at: tracing.next_sample,
            reason: "trace",
        });
        Deadline::earlier(Deadline::earlier(Some(links), pictures), samples)
    }

    fn on_timeout(&mut self, context: &mut Context<'_>) {
        if context.now >= self.following.next_look {
            self.follow_links(context);
            self.give_up(context);
        }
        if context.now >= self.next_bound {
            self.bound_pictures(context);
        }
        let tracing = self.tracing.as_ref();
        if tracing.is_some_and(|tracing| context.now >= tracing.next_sample) {
            self.trace_samples(context);
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
        self.trace_end(context.now, key);
        self.end_relays(context, key);
        for held in self.peers.remove(&key).into_iter().flat_map(|c| c.locals) {
            self.following.close(context, held);
        }
        self.publisher.handle_left(&key);
        self.watch();
    }
}
