//! WHIP and WHEP as a client, and the room's list of participants.

mod error;
mod exchange;
mod invitation;
mod links;
mod room;
mod stream;
mod trust;

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use weft_rooms::Publishing;

pub use error::{CertificateFault, SignallingError, UrlPart, with_remedy};
pub use invitation::Invitation;
pub use links::LinkFault;
pub use room::{Room, escaped};
pub use trust::Trust;

/// The server writes to an event stream at least every 15 s; two misses and a
/// little more mean that nothing comes through.
pub const SILENCE: Duration = Duration::from_secs(35);

/// Addresses of a server that are tried beside those that it tells: one for
/// each family over a few links. Chosen by us.
pub const MAX_REACHED: usize = 4;

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

/// What an endpoint reads of somebody in the room (of a
/// [`weft_rooms::Participant`]); the rest, which newer servers may know more
/// of, it passes over.
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
    /// The answer, in SDP.
    pub sdp: String,
    /// The resource's address, on the server that was asked.
    pub location: String,
    /// Addresses at which HTTP has reached the server, at most
    /// [`MAX_REACHED`].
    pub reached: Vec<IpAddr>,
}

#[cfg(test)]
mod tests;
