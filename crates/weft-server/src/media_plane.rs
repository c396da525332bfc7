//! The border between HTTP and media: commands one way, events the other.
//!
//! A media plane is anything that takes [`Command`]s: the forwarding one of
//! `weft serve`, the single sender of `weft call`.

use tokio::sync::{mpsc, oneshot};
pub use weft_forwarding::{Event, MediaError, Negotiated, ResourceId, Stats};

/// Where a command's answer goes. An answer that nobody waits for any more
/// is no error.
pub type Reply<T> = oneshot::Sender<Result<T, MediaError>>;

/// What HTTP wants of the media plane. Session descriptions are SDP.
#[derive(Debug)]
pub enum Command {
    /// Somebody wants to publish; the answer goes back.
    Publish {
        /// The connection to make.
        resource: ResourceId,
        /// Its name, as in the address of the request.
        room: String,
        /// The participant who publishes. What they publish already goes on
        /// until the new connection is up, and is replaced by it.
        participant: String,
        /// Their offer.
        offer: String,
        /// Takes our answer.
        reply: Reply<Negotiated>,
    },
    /// Somebody wants to play what a participant publishes.
    Play {
        /// The connection to make.
        resource: ResourceId,
        /// Its name, as in the address of the request.
        room: String,
        /// The participant who publishes.
        publisher: String,
        /// The player's offer, or nothing if we are to offer.
        offer: Option<String>,
        /// Takes our answer, or our offer.
        reply: Reply<Negotiated>,
    },
    /// The player's answer to our offer.
    Answer {
        /// The connection.
        resource: ResourceId,
        /// Their answer.
        sdp: String,
        /// Takes success.
        reply: Reply<()>,
    },
    /// Candidates of the peer (RFC 8840 fragment).
    Candidates {
        /// The connection.
        resource: ResourceId,
        /// `application/trickle-ice-sdpfrag`.
        fragment: String,
        /// Takes success.
        reply: Reply<()>,
    },
    /// The connection ends; unknown ones are ignored. No [`Event::Ended`]
    /// follows.
    Close {
        /// The connection.
        resource: ResourceId,
    },
    /// Figures for the operator.
    Stats {
        /// Takes them.
        reply: Reply<Stats>,
    },
}

/// Takes commands. `send` never blocks.
pub trait MediaPlane: Send + Sync {
    /// Hands over a command; one that cannot be taken is dropped, and its
    /// reply with it, which the sender sees as [`MediaError::Gone`].
    fn send(&self, command: Command);
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
