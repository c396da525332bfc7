//! Why a call does not begin.

use weft_media::{CameraError, MicrophoneError, VideoError};

use crate::caller;
use crate::links::{ChoiceError, LinksError};
use crate::signalling::SignallingError;
use crate::sources::cameras::CamerasError;
use crate::sources::sound::SoundError;

/// A call cannot begin. As text it says what is wrong and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Nobody is to be received, and there is nothing to send.
    #[error("there is nothing to send and nobody to receive; name a camera or a microphone")]
    NothingToDo,
    /// The links cannot be had together, or there is none.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// None of the links is there, or one can never be.
    #[error(transparent)]
    Links(#[from] LinksError),
    /// The server's address or certificate is none.
    #[error(transparent)]
    Server(#[from] SignallingError),
    /// The cameras cannot be had together.
    #[error(transparent)]
    Cameras(#[from] CamerasError),
    /// A camera cannot be opened.
    #[error(transparent)]
    Camera(#[from] CameraError),
    /// A microphone cannot be opened.
    #[error(transparent)]
    Microphone(#[from] MicrophoneError),
    /// The system gives no sockets, threads or randomness.
    #[error(transparent)]
    Endpoint(#[from] caller::EndpointError),
    /// A camera's pictures cannot be encoded.
    #[error(transparent)]
    Encoder(#[from] VideoError),
    /// Sound cannot be encoded.
    #[error(transparent)]
    Sound(#[from] SoundError),
}

/// Who can mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Who has written the configuration.
    Configuration,
    /// Who runs the machine.
    Machine,
}

impl StartError {
    /// Who can mend it.
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
