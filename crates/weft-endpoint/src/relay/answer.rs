//! Answers to encoders.

use weft_rooms::{MAX_CAMERAS, Publishing};

use crate::caller::CallError;

/// Event between a relay and an encoder, whom the name given to [`RelayInlet::publish`](super::RelayInlet::publish)
/// identifies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayEvent {
    /// The encoder's media arrives.
    Connected {
        /// Name of the encoder.
        encoder: String,
    },
    /// The encoder has left, or never connected.
    Ended {
        /// Name of the encoder.
        encoder: String,
        /// Reason for people, a sentence without its full stop.
        reason: String,
    },
}

/// Answer to an encoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relayed {
    /// Answer in SDP.
    pub sdp: String,
    /// Tracks that are taken.
    pub publishing: Publishing,
}

/// Reason why an encoder is refused.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Another encoder is connected.
    #[error("another encoder is publishing through this relay")]
    Busy,
    /// The encoder sends more tracks than a publication has.
    #[error(
        "the offer has {cameras} cameras and {sounds} of sound; a relay takes {MAX_CAMERAS} and one"
    )]
    TooMany {
        /// Number of cameras.
        cameras: usize,
        /// Number of tracks of sound.
        sounds: usize,
    },
    /// The cameras use different codecs.
    #[error("the offer's cameras use different codecs; use one for all")]
    MixedCodecs,
    /// The offer cannot be used, or the relay has ended.
    #[error(transparent)]
    Call(#[from] CallError),
}
