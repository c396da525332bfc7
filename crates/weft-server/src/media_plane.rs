//! The border between HTTP and media: commands one way, events the other.
//!
//! A media plane is anything that takes [`Command`]s: the forwarding one of
//! `weft serve`, the single sender of `weft call`.

use thiserror::Error;
use tokio::sync::{mpsc, oneshot};
use weft_sfu::{MAX_CAMERAS, Publishing};
use weft_units::VideoCodec;

/// One media connection, to publish or to play. Unguessable: who knows it
/// may end it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub String);

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
        /// The room.
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
        /// The room.
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

/// What the media plane tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A connection is up: packets can flow.
    Connected {
        /// Which.
        resource: ResourceId,
    },
    /// A connection has ended by itself.
    Ended {
        /// Which.
        resource: ResourceId,
        /// Why, in words for a log.
        reason: String,
    },
}

/// A description of ours, and what was agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Negotiated {
    /// SDP.
    pub sdp: String,
    /// The streams of the connection.
    pub streams: Publishing,
}

/// Totals since the start, but for the first two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stats {
    /// Connections that publish, now.
    pub publications: u64,
    /// Connections that play, now.
    pub playbacks: u64,
    /// Media packets that came.
    pub packets_received: u64,
    /// Media packets sent to players.
    pub packets_forwarded: u64,
    /// Packets kept from players who cannot take them.
    pub packets_thinned: u64,
    /// Datagrams dropped as unusable.
    pub datagrams_dropped: u64,
    /// Datagrams that the system did not send.
    pub datagrams_unsent: u64,
    /// Keyframes asked of publishers.
    pub keyframe_requests: u64,
}

/// Why the media plane does not do what it was asked to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MediaError {
    /// The session description makes no sense.
    #[error("the session description cannot be used: {reason}")]
    BadDescription {
        /// What is wrong, and where.
        reason: String,
    },
    /// The description has more cameras than a publication may have.
    #[error("the session description has {0} cameras, and {MAX_CAMERAS} are forwarded")]
    TooManyCameras(usize),
    /// Nothing in the description is VP8, H.264 or Opus.
    #[error("the session description has no codec that weft forwards")]
    NoCodec,
    /// The player does not take the codec that is published.
    #[error("this participant sends {}, which the player does not take", codec.encoding())]
    CodecNotTaken {
        /// Of the pictures.
        codec: VideoCodec,
    },
    /// The participant publishes nothing now.
    #[error("this participant publishes nothing at the moment")]
    NothingPublished,
    /// No such connection.
    #[error("there is no such connection")]
    UnknownResource,
    /// The connection cannot take this now.
    #[error("the connection does not expect this: {reason}")]
    WrongState {
        /// What it expects.
        reason: String,
    },
    /// No room for another connection.
    #[error("too many media connections")]
    Busy,
    /// The media plane has ended.
    #[error("the media side of the server has stopped")]
    Gone,
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
