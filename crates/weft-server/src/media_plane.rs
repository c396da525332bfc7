//! The border between HTTP and media: requests one way, events the other.
//!
//! A media plane is anything that takes [`Request`]s: the forwarding one of
//! `weft serve`, the single sender of `weft call`. A request is code that runs
//! where the plane is and finds a [`Media`] there.

use tokio::sync::{mpsc, oneshot};
use weft_forwarding::{Capacity, Plane, Publisher};
pub use weft_forwarding::{
    Event, IceCondition, IceUpdate, MediaError, Negotiated, ResourceId, Restarted, Stats,
};
use weft_net::{EntropyError, Network};

/// What HTTP wants of the media plane. It does not wait for anything.
pub type Request = Box<dyn FnOnce(&mut dyn Media) + Send>;

/// Takes requests. `send` never blocks.
pub trait MediaPlane: Send + Sync {
    /// Hands over a request; one that cannot be taken is dropped, which who
    /// waits for its answer sees as [`MediaError::Gone`].
    fn send(&self, request: Request);
}

/// What a request can ask for. Session descriptions are SDP.
///
/// What not every plane does is refused here, so that a plane does not have to
/// know of it.
pub trait Media {
    /// Somebody publishes from now on; our answer comes back.
    ///
    /// # Errors
    /// If the offer cannot be used, or nobody can publish here.
    fn publish(&mut self, publish: Publish) -> Result<Negotiated, MediaError> {
        let _ = publish;
        let reason = "this is a call to watch; it takes no other publisher".to_owned();
        Err(MediaError::WrongState { reason })
    }

    /// Somebody plays what a participant publishes; our answer comes back, or
    /// our offer if they made none.
    ///
    /// # Errors
    /// If there is nothing to play, or their offer cannot be used.
    fn play(&mut self, play: Play) -> Result<Negotiated, MediaError>;

    /// The player's answer to our offer.
    ///
    /// # Errors
    /// If no offer waits for it, or it cannot be used.
    fn answer(&mut self, resource: ResourceId, sdp: String) -> Result<(), MediaError>;

    /// Candidates of the peer, or an ICE restart (RFC 8840 fragment,
    /// `application/trickle-ice-sdpfrag`).
    ///
    /// # Errors
    /// If the connection cannot take them, or they cannot be read.
    fn update_ice(
        &mut self,
        resource: &ResourceId,
        update: &IceUpdate,
    ) -> Result<Option<Restarted>, MediaError>;

    /// The connection ends; unknown ones are ignored. No [`Event::Ended`]
    /// follows.
    fn close(&mut self, resource: &ResourceId);

    /// Figures for the operator.
    fn stats(&mut self) -> Stats;
}

/// Somebody wants to publish.
#[derive(Debug)]
pub struct Publish {
    /// The connection to make.
    pub resource: ResourceId,
    /// Its name, as in the address of the request.
    pub room: String,
    /// The participant who publishes. What they publish already goes on until
    /// the new connection is up, and is replaced by it.
    pub participant: String,
    /// Their offer.
    pub offer: String,
}

/// Somebody wants to play what a participant publishes.
#[derive(Debug)]
pub struct Play {
    /// The connection to make.
    pub resource: ResourceId,
    /// Its name, as in the address of the request.
    pub room: String,
    /// The participant who publishes.
    pub publisher: String,
    /// The player's offer, or nothing if we are to offer.
    pub offer: Option<String>,
}

impl dyn MediaPlane {
    /// Asks for something; the answer comes to the other end. An answer that
    /// nobody waits for any more is no error.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut dyn Media) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, answer) = oneshot::channel();
        self.send(Box::new(|media| {
            let _ = reply.send(question(media));
        }));
        answer
    }

    /// [`Media::close`], without waiting.
    pub fn close(&self, resource: ResourceId) {
        self.send(Box::new(move |media| media.close(&resource)));
    }
}

/// The forwarding of media, on its driver.
pub(crate) struct ForwardingMedia<'a, 'n> {
    pub(crate) plane: &'a mut Plane,
    pub(crate) network: &'a Network<'n>,
    pub(crate) capacity: Capacity,
}

impl ForwardingMedia<'_, '_> {
    /// Whether there is room for another connection.
    fn admit(&self) -> Result<(), MediaError> {
        let load = self.network.load();
        self.capacity.admit(load.busy, load.sent)
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

    fn close(&mut self, resource: &ResourceId) {
        self.plane.close(self.network.clock.now(), resource);
    }

    fn stats(&mut self) -> Stats {
        Stats {
            datagrams_unsent: self.network.unsent(),
            ..self.plane.stats()
        }
    }
}

/// Without randomness nothing can be kept secret: as good as ended.
fn gone(_: EntropyError) -> MediaError {
    MediaError::Gone
}

/// Where a media plane tells its events.
pub type EventSender = mpsc::UnboundedSender<Event>;
/// Where the server takes them.
pub type EventReceiver = mpsc::UnboundedReceiver<Event>;

/// A channel for the events of a media plane.
#[must_use]
pub fn events() -> (EventSender, EventReceiver) {
    mpsc::unbounded_channel()
}
