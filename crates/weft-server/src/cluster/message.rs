//! Messages between the servers of a cluster, as JSON. Unknown fields are ignored, so
//! that servers with the same [`PROTOCOL`] can differ in version.

use crate::auth::TokenId;
use crate::hub::{Bar, ClusterEvent, Vacancy};
use serde::{Deserialize, Serialize};
use weft_rooms::RoomState;

/// Version of these messages. Servers with different versions refuse each other.
pub(super) const PROTOCOL: u32 = 2;

/// Message to all servers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Envelope {
    /// Name of the sender.
    pub(super) node: String,
    /// Random name of the sender's process.
    pub(super) run: String,
    /// Number of events that the sender has sent, including this one.
    pub(super) sent: u64,
    pub(super) content: Content,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Content {
    Beat(Beat),
    Event(ClusterEvent),
    /// The sender ends.
    Bye,
}

/// Heartbeat of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Beat {
    pub(super) protocol: u32,
    /// Version of weft, for people.
    pub(super) version: String,
    /// Mark of the token keys, which are equal in a cluster.
    pub(super) keys: String,
    /// Milliseconds since the start of the process: of two servers with one name, the
    /// older one stays.
    pub(super) age: u64,
    /// Capacity for newcomers.
    #[serde(default)]
    pub(super) vacancy: Option<Vacancy>,
}

/// Request for a part of a server's state: tokens first, then rooms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ask {
    /// Process that the request is for.
    pub(super) run: String,
    pub(super) after: Place,
}

/// Position in the state of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Place {
    #[default]
    Start,
    Token(TokenId),
    Room(String),
}

/// Request for an offer of a publication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pull {
    pub(super) room: String,
    /// Id of the publisher.
    pub(super) id: String,
}

/// Offer of a publication.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Offered {
    /// Name of the connection.
    pub(super) resource: String,
    pub(super) sdp: String,
}

/// Answer to an offer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Accept {
    pub(super) resource: String,
    pub(super) sdp: String,
}

/// Part of a server's state.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Page {
    /// Number of events that the server had sent before; the page includes them.
    pub(super) sent: u64,
    /// Rules that keep people out of rooms, with the remaining milliseconds; on the first page.
    #[serde(default)]
    pub(super) bars: Vec<(String, Bar, u64)>,
    /// Revoked tokens, with their ends in seconds since 1970.
    pub(super) tokens: Vec<(TokenId, u64)>,
    pub(super) rooms: Vec<RoomState>,
    /// Position of the next page; `None` after the last one.
    pub(super) next: Option<Place>,
}
