//! Rooms and participants as their operator sees them.

use crate::auth::TokenId;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use weft_rooms::{ParticipantKind, Publishing};

/// A room, for its operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomReport {
    /// Its name.
    pub room: String,
    /// Seconds for which nobody comes in; none if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_for: Option<u64>,
    /// Those in it, in the order of their arrival.
    pub participants: Vec<ParticipantReport>,
}

/// A participant, for the operator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantReport {
    /// Theirs in the room.
    pub id: String,
    /// The name that the others see.
    pub name: String,
    /// Program that they use.
    pub kind: ParticipantKind,
    /// Streams that they send.
    pub publishing: Publishing,
    /// Seconds since they came.
    pub seconds: u64,
    /// Id of the signed token that they came with; none with the operator's, or
    /// where none is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenId>,
    /// Their address, or IPv6 network; none on the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<IpAddr>,
}
