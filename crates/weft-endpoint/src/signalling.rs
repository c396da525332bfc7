//! Client for WHIP, WHEP, the reception of a room and its list of participants.

mod base;
mod error;
mod exchange;
mod invitation;
mod links;
mod media_endpoint;
mod reception;
mod resource;
mod room;
mod stream;
mod trust;
mod viewing;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use weft_rooms::Publishing;

use crate::turn::{TurnConnector, TurnServer};

pub use error::{CertificateFault, SignallingError, Stall, UrlPart, with_remedy};
pub use invitation::Invitation;
pub use links::LinkFault;
use links::LinkTurnConnector;
pub use media_endpoint::MediaEndpoint;
pub use room::{Room, escaped};
pub use trust::Trust;
pub use viewing::{Line, ViewedCamera, Viewing, Wanted};

/// Header with the secret of a participant.
const SECRET: &str = "Weft-Secret";

/// Silence after which an event stream counts as dead: the server writes at least every
/// 15 s, so two writes are missing, plus a margin.
pub const SILENCE: Duration = Duration::from_secs(35);

/// Maximum number of server addresses tried in addition to its candidates: one per
/// address family on a few links. Chosen by us.
pub const MAX_REACHED: usize = 4;

/// Longest accepted id or secret, in octets. Those of weft's server are at most
/// 32 octets long. Chosen by us.
const MAX_ID: usize = 128;

/// Our identity in a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Id that the others see.
    pub id: String,
    /// Secret that proves it on reconnecting and publishing.
    pub secret: String,
}

/// Server and the way to authenticate with it.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// Root URL, such as `https://HOST:PORT`.
    pub url: String,
    /// Access token, if the server requires one.
    pub token: Option<String>,
    /// Certificates to trust.
    pub trust: Trust,
}

/// Participant, in the form that an endpoint reads from the room (a
/// [`weft_rooms::Participant`]). Ignores unknown fields of newer servers.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Participant {
    /// Unique id in the room.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Published tracks.
    #[serde(default)]
    pub publishing: Publishing,
    /// Whether a moderator has muted them.
    #[serde(default)]
    pub muted: bool,
}

/// Event of a room.
#[derive(Clone, Debug)]
pub enum RoomEvent {
    /// We have joined the room.
    Welcome {
        /// Our identity in the room.
        own: Identity,
        /// All participants, including us.
        participants: Vec<Participant>,
        /// TURN servers for us.
        turn_servers: Vec<TurnServer>,
    },
    /// We are in the waiting room, as this participant, until a moderator admits us.
    Waiting(Identity),
    /// A participant joined or changed their publication.
    Changed(Participant),
    /// The participant with this id left.
    Left(String),
    /// News of our reception with this resource name.
    Reception(String, Viewing),
    /// Others watch these encodings of our publication.
    Wanted(Wanted),
    /// TURN servers with new credentials.
    TurnServers(Vec<TurnServer>),
    /// The server has ended our connection with this resource.
    ConnectionEnded(String),
    /// The server is about to stop; another one of its cluster, at this URL, has
    /// capacity.
    Move(String),
    /// Keep-alive of the stream.
    Alive,
}

/// Role of a session description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SdpRole {
    /// Offer that waits for our answer.
    Offer,
    /// Answer to our offer.
    Answer,
}

/// Session description from the server, with its resource.
pub struct Created {
    /// Whether the server answers our offer or makes one of its own.
    pub role: SdpRole,
    /// Answer or offer, in SDP.
    pub sdp: String,
    /// URL of the resource, on the same server.
    pub location: String,
    /// Addresses of the server that answered HTTP, at most [`MAX_REACHED`].
    pub reached: Vec<IpAddr>,
    /// TURN servers that the server offers.
    pub turn_servers: Vec<TurnServer>,
}

/// Returns a connector to TURN servers that trusts these certificates.
///
/// # Errors
/// If the file of certificates cannot be read.
pub(crate) fn turn_connector(trust: &Trust) -> Result<Arc<dyn TurnConnector>, SignallingError> {
    Ok(Arc::new(LinkTurnConnector(trust.config()?)))
}

/// Returns the id or secret if it is safe in URLs, headers and statistics.
fn valid_id(text: String) -> Option<String> {
    let fits = text.len() <= MAX_ID && text.bytes().all(|octet| octet.is_ascii_graphic());
    fits.then_some(text)
}

#[cfg(test)]
mod tests;
