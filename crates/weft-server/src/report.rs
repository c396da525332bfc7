//! Rooms and participants in the operator's view.

use crate::auth::TokenId;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use weft_rooms::{ParticipantKind, Publishing};

/// Room in the operator's view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomReport {
    /// Name of the room.
    pub room: String,
    /// Seconds for which the room stays closed; `None` if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed_for: Option<u64>,
    /// Participants in order of arrival.
    pub participants: Vec<ParticipantReport>,
}

/// Participant in the operator's view.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantReport {
    /// Id in the room.
    pub id: String,
    /// Name that the others see.
    pub name: String,
    /// Kind of client.
    pub kind: ParticipantKind,
    /// Published tracks.
    pub publishing: Publishing,
    /// Seconds since the arrival.
    pub seconds: u64,
    /// Id of the signed token; `None` with the operator's token, or where none
    /// is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenId>,
    /// Address, or IPv6 network; `None` on the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<IpAddr>,
}
