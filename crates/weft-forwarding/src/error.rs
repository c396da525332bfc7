use thiserror::Error;
use weft_rooms::MAX_CAMERAS;
use weft_units::Codec;
use weft_wire::payload;

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
    /// Nothing in the description can be forwarded.
    #[error(
        "the session description has no codec that weft forwards: {}",
        payload::wanted()
    )]
    NoCodec,
    /// The player does not take the codec that is published.
    #[error("this participant sends {}, which the player does not take", codec.encoding())]
    CodecNotTaken {
        /// Of the pictures.
        codec: Codec,
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
