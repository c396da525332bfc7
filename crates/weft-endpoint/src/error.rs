//! Errors that prevent the start of a call.

use weft_media::{CameraError, MicrophoneError, SpeakerError, VideoError};

use crate::caller;
use crate::links::{ChoiceError, LinksError};
use crate::signalling::SignallingError;
use crate::sources::cameras::CamerasError;
use crate::sources::sound::SoundError;

/// Reason why a call cannot start. The text names the problem and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The call would neither receive nor send.
    #[error("the call would neither send nor receive; name a camera or a microphone")]
    NothingToDo,
    /// Data channels without a publishing connection to carry them.
    #[error("data channels need a camera or a microphone, whose connection carries them")]
    ChannelsWithoutSource,
    /// The data channels cannot be opened.
    #[error(
        "a call has at most {} data channels, each with another label of at most {} bytes",
        weft_peer::data::MAX_CHANNELS,
        weft_peer::data::ChannelConfig::MAX_NAME
    )]
    Channels,
    /// The links conflict, or there is none.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// No link is present, or a link can never exist.
    #[error(transparent)]
    Links(#[from] LinksError),
    /// The server's address or certificate file is invalid.
    #[error(transparent)]
    Server(#[from] SignallingError),
    /// The cameras conflict.
    #[error(transparent)]
    Cameras(#[from] CamerasError),
    /// A camera cannot be opened.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// A microphone cannot be opened.
    #[error(transparent)]
    Microphone(#[from] MicrophoneError),
    /// The loudspeaker cannot be opened.
    #[error(transparent)]
    Speaker(#[from] SpeakerError),
    /// The system provides no sockets, threads or randomness.
    #[error(transparent)]
    Endpoint(#[from] caller::EndpointError),
    /// A camera's pictures cannot be encoded.
    #[error(transparent)]
    Encoder(#[from] VideoError),
    /// Sound cannot be encoded.
    #[error(transparent)]
    Sound(#[from] SoundError),
}

/// Person who can fix a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Author of the configuration.
    Configuration,
    /// Administrator of the machine.
    Machine,
}

impl StartError {
    /// Person who can fix it.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            StartError::Choice(ChoiceError::NoInterface | ChoiceError::System(_))
            | StartError::Endpoint(_)
            | StartError::Encoder(_) => Blame::Machine,
            _ => Blame::Configuration,
        }
    }
}
