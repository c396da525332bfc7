//! Rooms and participants in the operator's view.

use crate::auth::TokenId;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use weft_rooms::{Participant, ParticipantKind, Publishing};

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
    /// Id of the signed token; `None` with the operator's token, or if none is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<TokenId>,
    /// Address, or IPv6 network; `None` on the server's machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<IpAddr>,
}

/// Statistics of a room, for the metrics.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RoomFigures {
    /// Name of the room.
    pub(crate) room: String,
    pub(crate) participants: usize,
    /// Cameras that are published and on.
    pub(crate) cameras: usize,
    /// Participants whose sound is on.
    pub(crate) sounds: usize,
    /// Greatest loss that a sender reports for a link, 0 to 1.
    pub(crate) loss: f64,
    /// Longest round trip that a sender reports for a link, in milliseconds.
    pub(crate) rtt_ms: f64,
}

impl RoomFigures {
    pub(crate) fn of(room: &str, participants: &[&Participant]) -> RoomFigures {
        let links = || participants.iter().flat_map(|who| &who.links);
        let cameras = participants.iter().map(|who| &who.publishing.cameras);
        RoomFigures {
            room: room.to_owned(),
            participants: participants.len(),
            cameras: cameras.flatten().filter(|camera| !camera.off).count(),
            sounds: participants
                .iter()
                .filter(|who| who.publishing.audio)
                .count(),
            loss: links().map(|link| link.loss).fold(0.0, f64::max),
            rtt_ms: links().map(|link| link.rtt_ms).fold(0.0, f64::max),
        }
    }

    /// Adds the statistics of two rooms.
    pub(crate) fn and(self, other: RoomFigures) -> RoomFigures {
        RoomFigures {
            room: self.room,
            participants: self.participants + other.participants,
            cameras: self.cameras + other.cameras,
            sounds: self.sounds + other.sounds,
            loss: self.loss.max(other.loss),
            rtt_ms: self.rtt_ms.max(other.rtt_ms),
        }
    }
}
