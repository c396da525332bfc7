//! WHIP and WHEP as a client, and the room's list of participants.

mod error;
mod links;
mod room;
mod trust;

use std::time::Duration;

use serde::Deserialize;

pub use error::{CertificateFault, SignallingError, UrlPart, with_remedy};
pub use room::{Room, escaped};
pub use trust::Trust;

/// The server writes to an event stream at least every 15 s; two misses and a
/// little more mean that nothing comes through.
pub const SILENCE: Duration = Duration::from_secs(35);

/// Who we are in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What the others see.
    pub id: String,
    /// What proves it, for who comes back and who publishes.
    pub secret: String,
}

/// A server, and how it is reached.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// Its root, such as `https://HOST:PORT`.
    pub url: String,
    /// What it asks of who comes, if it does.
    pub token: Option<String>,
    /// Whose certificate is good.
    pub trust: Trust,
}

/// Somebody in the room.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Participant {
    /// Unique in the room.
    pub id: String,
    /// What people call them.
    pub name: String,
    /// What they publish.
    #[serde(default)]
    pub publishing: Publishing,
}

/// What they publish.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Publishing {
    /// Pictures: the cameras in order.
    #[serde(default)]
    pub cameras: Vec<Camera>,
    /// Sound.
    pub audio: bool,
}

/// One stream of pictures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Camera {
    /// What its owner calls it.
    #[serde(default)]
    pub name: Option<String>,
}

impl Publishing {
    /// Whether there is something in it that the other has not.
    #[must_use]
    pub fn has_more_than(&self, other: &Publishing) -> bool {
        self.cameras.len() > other.cameras.len() || self.audio && !other.audio
    }

    /// Whether nothing is published.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Publishing::default()
    }
}

/// What happens in a room.
#[derive(Clone, Debug)]
pub enum RoomEvent {
    /// We are in it.
    Welcome {
        /// Who we are there.
        own: Identity,
        /// All that are there, we among them.
        participants: Vec<Participant>,
    },
    /// Somebody came, or publishes something else.
    Changed(Participant),
    /// Somebody of this id went.
    Left(String),
    /// Nothing of interest, but the stream is alive.
    Alive,
}

/// A session description that came back, and where its resource is.
pub struct Created {
    /// The answer.
    pub sdp: String,
    /// The resource, as the server gives it.
    pub location: String,
}

#[cfg(test)]
mod tests;
