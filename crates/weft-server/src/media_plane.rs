//! Interface between HTTP and media: requests in one direction, events in the
//! other.
//!
//! A media plane is anything that handles [`Request`]s: the forwarding plane of
//! `weft serve`, or the single sender of `weft call`. A request is a closure that runs on
//! the plane's thread and gets a [`Media`].

use crate::http_slots::HttpSlot;
use crate::recorder::Recorder;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr, TcpStream};
use tokio::sync::{mpsc, oneshot};
use weft_forwarding::{Capacity, Plane, Publisher, RecordedTrack};
pub use weft_forwarding::{
    Event, IceCondition, IceUpdate, Line, LineContent, MediaError, Negotiated, ResourceId,
    Restarted, Sound, Stats, View, ViewedCamera, Viewing,
};
use weft_net::{EntropyError, Network};
use weft_units::Rate;

/// Request to the media plane. It does not block.
pub type Request = Box<dyn FnOnce(&mut dyn Media) + Send>;

/// Receiver of requests: one media plane, or several that share the media
/// connections. `send` never blocks.
pub trait MediaPlane: Send + Sync {
    /// Sends a request to a plane. If the plane cannot accept it, the request is dropped,
    /// and the caller that waits for its answer gets [`MediaError::Gone`].
    fn send(&self, to: Destination<'_>, request: Request);

    /// Local addresses of its sockets, for the built-in TURN server. Default none: it
    /// relays nothing.
    fn addresses(&self) -> &[SocketAddr] {
        &[]
    }

    /// Whether its peers may open TCP connections for media to the HTTP port. Default false.
    fn takes_streams(&self) -> bool {
        false
    }

    /// Accepts a TCP connection for media. Default: closes it.
    #[doc(hidden)]
    fn take_stream(&self, stream: MediaStream) {
        drop(stream);
    }

    /// Number of planes.
    fn planes(&self) -> usize {
        1
    }

    /// Chooses the plane of a new connection of a participant. The first request
    /// for the connection follows.
    fn place(&self, resource: &ResourceId, room: &str, participant: &str) {
        let _ = (resource, room, participant);
    }

    /// Forgets a connection that has ended.
    fn forget(&self, resource: &ResourceId) {
        let _ = resource;
    }

    /// Remembers whether a participant's sound is forwarded, for planes that start
    /// later.
    fn note_sound(&self, room: &str, participant: &str, sound: Sound) {
        let _ = (room, participant, sound);
    }

    /// Recorder of its packets. Default none: nothing can be recorded.
    #[doc(hidden)]
    fn recorder(&self) -> Option<&Recorder> {
        None
    }

    /// Remembers whether a room is recorded, for planes that start later.
    fn note_recorded(&self, room: &str, recorded: bool) {
        let _ = (room, recorded);
    }
}

/// TCP connection for media (RFC 6544), with its slot among the HTTP connections.
pub struct MediaStream {
    pub(crate) socket: TcpStream,
    /// First datagram, a connectivity check. It was not read from the socket.
    pub(crate) check: Vec<u8>,
    pub(crate) slot: HttpSlot,
}

/// Plane that a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination<'a> {
    /// Plane of this connection.
    Connection(&'a ResourceId),
    /// Plane with this number, from 0.
    Plane(usize),
}

/// Operations of a media plane. Session descriptions are SDP.
///
/// Operations that not every plane supports are refused by default.
pub trait Media {
    /// Starts a publication; returns our answer.
    ///
    /// # Errors
    /// If the offer cannot be used, or this plane has no publications.
    fn publish(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        let _ = publish;
        let reason = "this is a call to watch; it takes no other publisher".to_owned();
        Err(MediaError::WrongState { reason })
    }

    /// Publishes a publication from another server of the cluster here; returns our answer.
    ///
    /// # Errors
    /// If the offer cannot be used, or this plane has no publications.
    fn pull(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        let _ = publish;
        Err(without_rooms())
    }

    /// Offers a participant's publication to another server of the cluster.
    ///
    /// # Errors
    /// If there is nothing to play, or this plane has no publications.
    fn share(&mut self, play: Play) -> Result<Negotiated, MediaError> {
        let _ = play;
        Err(without_rooms())
    }

    /// Starts a playback of a participant's publication; returns our answer, or
    /// our offer if the client sent none.
    ///
    /// # Errors
    /// If there is nothing to play, or the offer cannot be used.
    fn play(&mut self, play: Play) -> Result<Negotiated, MediaError>;

    /// Starts a connection that carries a whole room to a participant; returns our
    /// offer.
    ///
    /// # Errors
    /// If this plane has no rooms, or no more capacity.
    fn receive(
        &mut self,
        resource: ResourceId,
        room: String,
        participant: String,
    ) -> Result<Negotiated, MediaError> {
        let _ = (resource, room, participant);
        Err(without_rooms())
    }

    /// Records the cameras that a participant who receives a room shows.
    ///
    /// # Errors
    /// If the connection does not carry a room.
    fn set_view(&mut self, resource: &ResourceId, view: View) -> Result<Viewing, MediaError> {
        let _ = (resource, view);
        Err(without_rooms())
    }

    /// Accepts the player's answer to our offer.
    ///
    /// # Errors
    /// If no offer waits for it, or it cannot be used.
    fn answer(&mut self, resource: ResourceId, sdp: String) -> Result<(), MediaError>;

    /// Adds candidates of the peer, or restarts ICE (RFC 8840 fragment,
    /// `application/trickle-ice-sdpfrag`). By default the peer's connectivity checks
    /// reveal its addresses, and a restart (`If-Match: *`) is refused.
    ///
    /// # Errors
    /// If the state of the connection does not allow it, or the candidates are invalid.
    fn update_ice(
        &mut self,
        resource: &ResourceId,
        update: &IceUpdate,
    ) -> Result<Option<Restarted>, MediaError> {
        let _ = resource;
        match update.condition {
            IceCondition::Any => Err(MediaError::NoRestart),
            IceCondition::Unsaid | IceCondition::Named(_) => Ok(None),
        }
    }

    /// Mutes a participant's sound, or forwards it again, over present and later
    /// connections. A plane without rooms has nothing to mute.
    fn set_sound(&mut self, room: &str, participant: &str, sound: Sound) {
        let _ = (room, participant, sound);
    }

    /// Starts or ends the recording of a room. A plane without a recorder ignores it.
    fn set_recorded(&mut self, room: &str, recorded: bool) {
        let _ = (room, recorded);
    }

    /// Asks the publisher of a recorded track for a keyframe.
    fn request_recorded_keyframe(&mut self, track: RecordedTrack) {
        let _ = track;
    }

    /// Starts or ends the sharing of a publisher's screens; ignores other connections.
    fn share_screen(&mut self, resource: &ResourceId, shared: bool) {
        let _ = (resource, shared);
    }

    /// Closes a connection; ignores unknown ones. No [`Event::Ended`] follows.
    fn close(&mut self, resource: &ResourceId);

    /// Statistics for the operator.
    fn stats(&mut self) -> Stats;
}

fn without_rooms() -> MediaError {
    let reason = "this is a call to watch; it has no rooms to receive".to_owned();
    MediaError::WrongState { reason }
}

/// Request to publish.
#[derive(Debug)]
pub struct Publish {
    /// Connection to create.
    pub resource: ResourceId,
    /// Name of the room, as in the URL of the request.
    pub room: String,
    /// Participant who publishes. An earlier publication continues until the
    /// new connection is established, and is then replaced.
    pub participant: String,
    /// Offer of the client.
    pub offer: String,
}

/// Request to play a participant's publication.
#[derive(Debug, Clone)]
pub struct Play {
    /// Connection to create.
    pub resource: ResourceId,
    /// Name of the room, as in the URL of the request.
    pub room: String,
    /// Participant who publishes.
    pub publisher: String,
    /// Offer of the player; `None` if the server makes the offer.
    pub offer: Option<String>,
}

impl dyn MediaPlane {
    /// Sends a request whose answer comes through the returned channel.
    /// Dropping the channel is not an error.
    pub fn ask<T: Send + 'static>(
        &self,
        to: Destination<'_>,
        question: impl FnOnce(&mut dyn Media) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        let request: Request = Box::new(|media| {
            let _ = reply.send(question(media));
        });
        self.send(to, request);
        answer
    }

    /// Requests [`Media::set_sound`] of all planes without waiting.
    pub fn set_sound(&self, room: &str, participant: &str, sound: Sound) {
        self.note_sound(room, participant, sound);
        for plane in 0..self.planes() {
            let (room, participant) = (room.to_owned(), participant.to_owned());
            let request: Request = Box::new(move |media| {
                media.set_sound(&room, &participant, sound);
            });
            self.send(Destination::Plane(plane), request);
        }
    }

    /// Requests [`Media::set_recorded`] of all planes without waiting.
    pub fn set_recorded(&self, room: &str, recorded: bool) {
        self.note_recorded(room, recorded);
        for plane in 0..self.planes() {
            let room = room.to_owned();
            let request: Request = Box::new(move |media| media.set_recorded(&room, recorded));
            self.send(Destination::Plane(plane), request);
        }
    }

    /// Requests [`Media::close`] without waiting, and forgets the connection.
    pub fn close(&self, resource: ResourceId) {
        let closed = resource.clone();
        let request: Request = Box::new(move |media| media.close(&closed));
        self.send(Destination::Connection(&resource), request);
        self.forget(&resource);
    }
}

/// Forwarding plane with its network.
pub(crate) struct ForwardingMedia<'a, 'n> {
    pub(crate) plane: &'a mut Plane,
    pub(crate) network: &'a mut Network<'n>,
    pub(crate) capacity: Capacity,
    /// Sending rate of all planes together.
    pub(crate) sent: Rate,
    /// Packets lost because another plane was too slow.
    pub(crate) lost: u64,
    /// Addresses of the plane's sockets.
    pub(crate) addresses: &'a [SocketAddr],
    /// Connections to other servers, with the addresses of their own sockets.
    pub(crate) pulled: &'a mut BTreeMap<ResourceId, Vec<SocketAddr>>,
}

impl ForwardingMedia<'_, '_> {
    /// Opens a socket on a free port of each address.
    fn open_sockets(&mut self) -> std::io::Result<Vec<SocketAddr>> {
        let ips: BTreeSet<IpAddr> = self.addresses.iter().map(SocketAddr::ip).collect();
        let open = |ip| {
            let socket = weft_net::open_address(SocketAddr::from((ip, 0)))?;
            self.network.add_socket(socket)
        };
        ips.into_iter().map(open).collect()
    }

    /// Checks that another connection fits the capacity.
    fn admit(&self) -> Result<(), MediaError> {
        self.capacity.admit(self.network.load().busy, self.sent)
    }
}

impl Media for ForwardingMedia<'_, '_> {
    fn publish(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        self.admit()?;
        let publisher = Publisher {
            room: publish.room,
            participant: publish.participant,
        };
        let now = self.network.clock.now();
        let entropy = weft_net::entropy().map_err(gone)?;
        self.plane
            .publish(now, publish.resource, publisher, &publish.offer, &entropy)
    }

    fn pull(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        let publisher = Publisher {
            room: publish.room,
            participant: publish.participant,
        };
        let now = self.network.clock.now();
        let entropy = weft_net::entropy().map_err(gone)?;
        let locals = self.open_sockets().map_err(|_| MediaError::Gone)?;
        let resource = publish.resource.clone();
        self.pulled.insert(resource, locals.clone());
        let offer = (&*publish.offer, &*locals);
        self.plane
            .pull(now, publish.resource, publisher, offer, &entropy)
    }

    fn share(&mut self, play: Play) -> Result<Negotiated, MediaError> {
        self.admit()?;
        let publisher = Publisher {
            room: play.room,
            participant: play.publisher,
        };
        let now = self.network.clock.now();
        let entropy = weft_net::entropy().map_err(gone)?;
        self.plane.share(now, play.resource, publisher, &entropy)
    }

    fn play(&mut self, play: Play) -> Result<Negotiated, MediaError> {
        self.admit()?;
        let publisher = Publisher {
            room: play.room,
            participant: play.publisher,
        };
        let now = self.network.clock.now();
        let entropy = weft_net::entropy().map_err(gone)?;
        let offer = play.offer.as_deref();
        self.plane
            .play(now, play.resource, publisher, offer, &entropy)
    }

    fn receive(
        &mut self,
        resource: ResourceId,
        room: String,
        participant: String,
    ) -> Result<Negotiated, MediaError> {
        self.admit()?;
        let participant = Publisher { room, participant };
        let now = self.network.clock.now();
        let entropy = weft_net::entropy().map_err(gone)?;
        Ok(self.plane.receive(now, resource, participant, &entropy))
    }

    fn set_view(&mut self, resource: &ResourceId, view: View) -> Result<Viewing, MediaError> {
        self.plane
            .set_view(self.network.clock.now(), resource, view)
    }

    fn answer(&mut self, resource: ResourceId, sdp: String) -> Result<(), MediaError> {
        self.plane.accept(self.network.clock.now(), resource, &sdp)
    }

    fn update_ice(
        &mut self,
        resource: &ResourceId,
        update: &IceUpdate,
    ) -> Result<Option<Restarted>, MediaError> {
        let now = self.network.clock.now();
        let entropy = weft_net::entropy().map_err(gone)?;
        self.plane.update_ice(now, resource, update, &entropy)
    }

    fn set_sound(&mut self, room: &str, participant: &str, sound: Sound) {
        let publisher = Publisher {
            room: room.to_owned(),
            participant: participant.to_owned(),
        };
        let now = self.network.clock.now();
        self.plane.set_sound(now, &publisher, sound);
    }

    fn set_recorded(&mut self, room: &str, recorded: bool) {
        self.plane
            .set_recorded(self.network.clock.now(), room, recorded);
    }

    fn request_recorded_keyframe(&mut self, track: RecordedTrack) {
        self.plane
            .request_recorded_keyframe(self.network.clock.now(), track);
    }

    fn share_screen(&mut self, resource: &ResourceId, shared: bool) {
        self.plane
            .share_screen(self.network.clock.now(), resource, shared);
    }

    fn close(&mut self, resource: &ResourceId) {
        self.plane.close(self.network.clock.now(), resource);
    }

    fn stats(&mut self) -> Stats {
        let (streams, tcp_dropped) = self.network.streams();
        Stats {
            datagrams_unsent: self.network.unsent(),
            tcp_connections: streams as u64,
            tcp_dropped,
            relayed_lost: self.lost,
            busy: (self.network.load().busy * 1000.0) as u64,
            lag: self.network.load().lag.as_nanos() / 1000,
            ..self.plane.stats()
        }
    }
}

/// Without randomness, no secret is possible; this counts as the end of the
/// plane.
fn gone(_: EntropyError) -> MediaError {
    MediaError::Gone
}

/// Sender of a media plane's events.
pub type EventSender = mpsc::UnboundedSender<Event>;
/// Receiver of a media plane's events.
pub type EventReceiver = mpsc::UnboundedReceiver<Event>;

/// Creates the channel for the events of a media plane.
#[must_use]
pub fn events() -> (EventSender, EventReceiver) {
    mpsc::unbounded_channel()
}
