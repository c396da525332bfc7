//! Answers to encoders.

use weft_rooms::{MAX_CAMERAS, Publishing};

use crate::caller::CallError;

/// Event between a relay and an encoder, identified by the name given to
/// [`RelayInlet::publish`](super::RelayInlet::publish).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayEvent {
    /// Media of the encoder arrives.
    Connected {
        /// Name of the encoder.
        encoder: String,
    },
    /// The encoder has left, or never connected.
    Ended {
        /// Name of the encoder.
        encoder: String,
        /// Reason for display: a sentence without its full stop.
        reason: String,
    },
}

/// Answer to an encoder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relayed {
    /// Answer in SDP.
    pub sdp: String,
    /// Accepted tracks.
    pub publishing: Publishing,
}

/// Reason why the relay refuses an encoder.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Another encoder is connected.
    #[error("another encoder is publishing through this relay")]
    Busy,
    /// The encoder sends more tracks than a publication supports.
    #[error(
        "the offer has {cameras} cameras and {sounds} of sound; a relay takes {MAX_CAMERAS} and one"
    )]
    TooMany {
        /// Number of cameras.
        cameras: usize,
        /// Number of sound tracks.
        sounds: usize,
    },
    /// The cameras use different codecs.
    #[error("the offer's cameras use different codecs; use one for all")]
    MixedCodecs,
    /// The offer is unusable, or the relay has ended.
    #[error(transparent)]
    Call(#[from] CallError),
}
