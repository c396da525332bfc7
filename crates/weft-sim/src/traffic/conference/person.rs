//! Person with two connections to the server, camera, microphone and screen.

use std::ops::Range;
use std::sync::Arc;

use weft_experiment::{ConferenceSetup, PersonRecord};
use weft_forwarding::ResourceId;
use weft_ice::{Event as IceEvent, IceRole, LinkId, LocalAddress, RemoteFilter};
use weft_peer::{
    AnswerPolicy, Entropy, Event, Peer, PeerConfig, Section, StreamDirection, TimeOrigin,
};
use weft_secure::{Certificate, Event as AssociationEvent};
use weft_session::{Delivery, Event as SessionEvent, Policy};
use weft_units::{Codec, Duration, Instant, MediaKind, Rate, Rng, StreamId, Transport};
use weft_wire::payload::Form;
use weft_wire::rtp::Rid;

use super::addresses;
use super::camera::{Microphone, SimulcastCamera};
use super::viewer::Viewer;

/// Time before a person reconnects after a connection has ended. Chosen by us.
const AGAIN: Duration = Duration::from_secs(1);
/// Names of encodings, the smallest first, as the page uses them.
const RIDS: [&str; 3] = ["q", "h", "f"];

/// Connection of a person.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Connection {
    Publication,
    Reception,
}

impl Connection {
    pub const BOTH: [Connection; 2] = [Connection::Publication, Connection::Reception];

    fn port(self) -> u16 {
        match self {
            Connection::Publication => 6_000,
            Connection::Reception => 6_001,
        }
    }

    /// Returns the connection with this port.
    pub fn of_port(port: u16) -> Connection {
        match port {
            6_000 => Connection::Publication,
            _ => Connection::Reception,
        }
    }
}

/// Peer and the server's name of its connection.
pub(super) struct Connected {
    pub resource: ResourceId,
    pub peer: Peer,
    /// Whether the peer may have output, and its deadline may have changed.
    pub is_touched: bool,
    /// Deadline of the peer.
    due: Option<Instant>,
}

impl Connected {
    pub fn new(resource: ResourceId, peer: Peer) -> Connected {
        Connected {
            resource,
            peer,
            is_touched: true,
            due: None,
        }
    }

    /// Updates the peer's deadline after its output has been handled.
    pub fn settle(&mut self) {
        self.is_touched = false;
        self.due = self.peer.poll_timeout().map(|deadline| deadline.at);
    }
}

pub(super) struct Person {
    pub name: String,
    /// Number among all people of the conference.
    number: usize,
    pub setup: Arc<ConferenceSetup>,
    /// Routes of the flow that belong to this person, and their policies.
    routes: Range<usize>,
    policies: Vec<Policy>,
    rng: Rng,
    /// Time of the next attempt to connect.
    pub joins_at: Option<Instant>,
    leaves_at: Option<Instant>,
    joined_at: Option<Instant>,
    publication: Option<Connected>,
    reception: Option<Connected>,
    camera: Option<SimulcastCamera>,
    microphone: Option<Microphone>,
    pub viewer: Viewer,
}

/// Place of a person in the conference.
pub(super) struct Seat {
    pub name: String,
    pub number: usize,
    pub routes: Range<usize>,
    pub policies: Vec<Policy>,
    pub rng: Rng,
    pub joins_at: Instant,
    pub leaves_at: Option<Instant>,
}

impl Person {
    pub fn new(seat: Seat, setup: &Arc<ConferenceSetup>) -> Person {
        Person {
            name: seat.name,
            number: seat.number,
            setup: Arc::clone(setup),
            routes: seat.routes,
            policies: seat.policies,
            rng: seat.rng,
            joins_at: Some(seat.joins_at),
            leaves_at: seat.leaves_at,
            joined_at: None,
            publication: None,
            reception: None,
            camera: None,
            microphone: None,
            viewer: Viewer::default(),
        }
    }

    /// Returns whether others see this person.
    pub fn is_seen(&self) -> bool {
        self.publication.is_some() && self.camera.is_some()
    }

    pub fn routes(&self) -> &Range<usize> {
        &self.routes
    }

    pub fn is_present(&self) -> bool {
        self.publication.is_some() || self.reception.is_some()
    }

    /// Returns whether the person publishes anything.
    pub fn publishes(&self) -> bool {
        self.setup.camera.is_some() || self.setup.microphone.is_some()
    }

    /// Returns the highest rate of everything that the person sends.
    pub fn max_rate(&self) -> Rate {
        let camera = self.setup.camera.as_ref().map(|camera| camera.max_rate());
        let sound = self.setup.microphone.as_ref().map(|sound| sound.rate);
        camera.into_iter().chain(sound).sum()
    }

    /// Returns the settings of a new peer.
    pub fn config(&self, of: Connection, role: IceRole, entropy: &Entropy) -> PeerConfig {
        let links = (0..).zip(self.routes.clone());
        let locals = links.map(|(link, route)| LocalAddress {
            transport: Transport::Udp,
            addr: addresses::of_person(route, of.port()),
            link: LinkId(link),
            cost: 10 * u16::from(link),
            remotes: RemoteFilter::Any,
        });
        let (origin, certificate) = (TimeOrigin::simulated(), Certificate::unused());
        let mut config = PeerConfig::new(role, origin, certificate, locals.collect(), entropy);
        let max_rate = config.session.max_rate;
        self.setup.side.configure(&mut config.session);
        config.session.max_rate = match of {
            Connection::Publication => self.max_rate(),
            Connection::Reception => max_rate,
        };
        config
    }

    /// Returns the sections of an offer to publish.
    pub fn sections(&self) -> Vec<Section> {
        let camera = self.setup.camera.iter().map(|camera| {
            let count = camera.rates.len();
            let rids = RIDS.iter().take(count).filter_map(|rid| Rid::new(rid));
            Section {
                form: Some(Form::ours(Codec::Vp8)),
                encodings: rids.collect(),
                ..Section::new(MediaKind::Video, StreamDirection::Send)
            }
        });
        let sound = self.setup.microphone.iter();
        let sound = sound.map(|_| Section::new(MediaKind::Audio, StreamDirection::Send));
        camera.chain(sound).collect()
    }

    /// Returns the policy for answering an offer of the room.
    pub fn receiving() -> AnswerPolicy {
        AnswerPolicy {
            receive: Some(Delivery::Frames),
            send: Vec::new(),
        }
    }

    pub fn connection(&self, of: Connection) -> Option<&Connected> {
        match of {
            Connection::Publication => self.publication.as_ref(),
            Connection::Reception => self.reception.as_ref(),
        }
    }

    pub fn connection_mut(&mut self, of: Connection) -> Option<&mut Connected> {
        self.slot(of).as_mut()
    }

    fn slot(&mut self, of: Connection) -> &mut Option<Connected> {
        match of {
            Connection::Publication => &mut self.publication,
            Connection::Reception => &mut self.reception,
        }
    }

    /// Returns whether the connection is wanted and missing.
    pub fn lacks(&self, of: Connection) -> bool {
        let wanted = of == Connection::Reception || self.publishes();
        wanted && self.connection(of).is_none()
    }

    /// Stores a new connection.
    pub fn connect(&mut self, now: Instant, of: Connection, connected: Connected) {
        self.joined_at.get_or_insert(now);
        *self.slot(of) = Some(connected);
        self.viewer.reconnect();
    }

    /// Removes a connection, which is replaced later.
    pub fn disconnect(&mut self, now: Instant, of: Connection) -> Option<Connected> {
        self.joins_at = Some(now + AGAIN);
        if of == Connection::Publication {
            (self.camera, self.microphone) = (None, None);
        }
        self.slot(of).take()
    }

    /// Returns whether it is time to leave.
    pub fn leaves(&self, now: Instant) -> bool {
        self.is_present() && self.leaves_at.is_some_and(|at| at <= now)
    }

    /// Leaves for good; returns the connections to close.
    pub fn leave(&mut self) -> Vec<Connected> {
        (self.camera, self.microphone) = (None, None);
        self.joins_at = None;
        let both = [self.publication.take(), self.reception.take()];
        both.into_iter().flatten().collect()
    }

    pub fn poll_timeout(&self) -> Option<Instant> {
        let connections = self.publication.iter().chain(&self.reception);
        let peers = connections.filter_map(|connected| connected.due);
        let camera = self.camera.as_ref().and_then(SimulcastCamera::next_at);
        let sound = self.microphone.as_ref().map(|sound| sound.next_at);
        let leaves = self.leaves_at.filter(|_| self.is_present());
        peers
            .chain(camera)
            .chain(sound)
            .chain(self.joins_at)
            .chain(leaves)
            .min()
    }

    /// Runs the due timers of peers, camera and microphone.
    pub fn on_time(&mut self, now: Instant, speaks: bool) {
        for connected in self.publication.iter_mut().chain(&mut self.reception) {
            if connected.due.is_some_and(|at| at <= now) {
                connected.peer.handle_timeout(now);
                connected.is_touched = true;
            }
        }
        let publication = self.publication.as_mut();
        let Some(Connected {
            peer, is_touched, ..
        }) = publication
        else {
            return;
        };
        if let Some(camera) = &mut self.camera
            && camera.next_at().is_some_and(|at| at <= now)
        {
            *is_touched = true;
            for picture in camera.capture(now) {
                let stream = stream_of(peer, MediaKind::Video, picture.encoding);
                if let Some(stream) = stream {
                    let frame = picture.frame(clock(now, Codec::Vp8), now);
                    let _ = peer.send_frame(now, stream, &frame);
                }
            }
        }
        if let Some(sound) = &mut self.microphone
            && sound.next_at <= now
            && let Some(stream) = stream_of(peer, MediaKind::Audio, 0)
        {
            *is_touched = true;
            let frame = sound.record(speaks, clock(now, Codec::Opus), now);
            let _ = peer.send_frame(now, stream, &frame);
        }
    }

    /// Handles an event of one of the peers; returns whether the connection has failed.
    pub fn on_event(&mut self, now: Instant, of: Connection, event: Event) -> bool {
        match event {
            Event::Association(AssociationEvent::Connected { .. }) => {
                if of == Connection::Publication {
                    self.start_media(now);
                }
            }
            Event::Association(AssociationEvent::Failed { .. }) => return true,
            Event::Association(AssociationEvent::Ice(IceEvent::PathUp { path, link, .. })) => {
                let policy = self.policies.get(usize::from(link.0)).copied();
                if let Some(policy) = policy.filter(|policy| *policy != Policy::default())
                    && let Some(connected) = self.connection_mut(of)
                {
                    connected.peer.set_path_policy(now, path, policy);
                }
            }
            Event::Session(SessionEvent::FrameReceived { stream, frame }) => {
                if frame.codec == Codec::Vp8 {
                    self.viewer.show(now, stream, &frame);
                }
            }
            Event::Session(SessionEvent::KeyframeRequested { stream }) => {
                if let (Some(camera), Some(connected)) = (&mut self.camera, &self.publication)
                    && let Some(place) = place_of(&connected.peer, stream)
                {
                    camera.request_keyframe(place);
                }
            }
            Event::Session(SessionEvent::TargetRateChanged { rate }) => {
                let sound = self.setup.microphone.as_ref().map(|sound| sound.rate);
                if let (Some(camera), Connection::Publication) = (&mut self.camera, of) {
                    camera.set_target(rate.saturating_sub(sound.unwrap_or_default()));
                }
            }
            Event::Association(_)
            | Event::Session(_)
            | Event::Data(_)
            | Event::AddressWanted { .. }
            | Event::Packet(_) => {}
        }
        false
    }

    /// Starts camera and microphone. Cameras of different people are not synchronized.
    fn start_media(&mut self, now: Instant) {
        let Some(connected) = &self.publication else {
            return;
        };
        if let Some(setup) = &self.setup.camera {
            let mut rng = self.rng.stream(&connected.resource.0);
            let interval = Duration::from_secs_f64(rng.unit() / setup.encoder.fps);
            let mut camera = SimulcastCamera::new(self.number, setup, now + interval, &rng);
            camera.set_target(connected.peer.session().target_rate());
            self.camera = Some(camera);
        }
        let sound = self.setup.microphone.as_ref();
        self.microphone = sound.map(|setup| Microphone::new(setup, now));
    }

    /// Sets which encodings anybody watches, according to the server.
    pub fn set_wanted(&mut self, cameras: &[Vec<bool>]) {
        if let (Some(camera), Some(wanted)) = (&mut self.camera, cameras.first()) {
            camera.set_wanted(wanted);
            if let Some(connected) = &self.publication {
                let sound = self.setup.microphone.as_ref().map(|sound| sound.rate);
                let target = connected.peer.session().target_rate();
                camera.set_target(target.saturating_sub(sound.unwrap_or_default()));
            }
        }
    }

    pub fn take_record(&mut self) -> PersonRecord {
        let (tiles, undecodable) = self.viewer.take_record();
        PersonRecord {
            name: self.name.clone(),
            joined_at: self.joined_at,
            tiles,
            undecodable,
        }
    }
}

/// Returns the stream of this encoding, or of the microphone.
fn stream_of(peer: &Peer, kind: MediaKind, encoding: usize) -> Option<StreamId> {
    let of_kind = peer.streams().iter().filter(|s| s.codec().kind() == kind);
    of_kind.map(|agreed| agreed.stream).nth(encoding)
}

/// Returns the index of the encoding that a stream carries.
fn place_of(peer: &Peer, stream: StreamId) -> Option<usize> {
    let video = peer.streams().iter();
    let mut video = video.filter(|s| s.codec().kind() == MediaKind::Video);
    video.position(|agreed| agreed.stream == stream)
}

/// Returns the RTP timestamp of this time.
fn clock(now: Instant, codec: Codec) -> u32 {
    let ticks = u128::from(now.as_nanos()) * u128::from(codec.clock_rate()) / 1_000_000_000;
    ticks as u32
}
