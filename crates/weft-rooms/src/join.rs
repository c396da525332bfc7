//! Admission to a room, and its errors.

use crate::ParticipantKind;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Proof of a participant's identity: the hash of a secret that only the
/// participant knows. The caller hashes the secret and makes it unpredictable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proof(pub [u8; 32]);

/// Rights of a newcomer in the room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Standing {
    /// A token allows the newcomer to moderate: they get any place, even in a locked
    /// room, and do not wait.
    Host,
    /// The server has no tokens: everybody gets any place and may moderate, and lock and
    /// waiting room apply to all.
    #[default]
    Equal,
    /// A token without moderation: the newcomer gets no place of
    /// [`RegistryLimits::kept_for_hosts`](crate::RegistryLimits).
    Guest,
}

/// Request to join a room.
#[derive(Debug, Clone, Copy)]
pub struct Join<'a> {
    /// Name of the room, which is created if it does not exist.
    pub room: &'a str,
    /// Display name.
    pub name: &'a str,
    /// Kind of client.
    pub kind: ParticipantKind,
    /// Rights, which determine the available places.
    pub standing: Standing,
    /// Id of an earlier visit.
    pub id: Option<&'a str>,
    /// Proof of the earlier visit.
    pub proof: Option<Proof>,
    /// Proof to register for a newcomer.
    pub fresh: Proof,
    /// Id to register for a newcomer, unpredictable; the caller generates it.
    pub fresh_id: &'a str,
}

/// Result of joining.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// New participant, with this id.
    New(String),
    /// Participant who was already present.
    Back(String),
}

impl Joined {
    /// Id of the participant.
    #[must_use]
    pub fn into_id(self) -> String {
        let (Joined::New(id) | Joined::Back(id)) = self;
        id
    }
}

/// Reason why a participant cannot join.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JoinError {
    /// Invalid name of a room.
    #[error("a room's name has 1 to 64 letters, digits, '-', '_' or '.', and is not only dots")]
    BadRoomName,
    /// Invalid name of a participant.
    #[error("a participant's name has 1 to 64 printable characters")]
    BadName,
    /// A moderator has locked the room.
    #[error("the room is locked")]
    Locked,
    /// The room is full.
    #[error("the room is full")]
    RoomFull,
    /// Too many rooms are open.
    #[error("too many rooms are open")]
    TooManyRooms,
}

/// Unknown participant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no participant '{id}' in room '{room}'")]
pub struct UnknownParticipant {
    /// Room of the request.
    pub room: String,
    /// Id of the request.
    pub id: String,
}

/// Reason why a client may not act as a participant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HoldError {
    /// The participant does not exist.
    #[error(transparent)]
    Unknown(#[from] UnknownParticipant),
    /// The participant waits to be admitted.
    #[error("participant '{id}' is in the waiting room of '{room}'")]
    Waiting {
        /// Room of the request.
        room: String,
        /// Id of the request.
        id: String,
    },
    /// The participant exists, but the proof does not match.
    #[error("participant '{id}' in room '{room}' is somebody else")]
    Stranger {
        /// Room of the request.
        room: String,
        /// Id of the request.
        id: String,
    },
}

pub(crate) fn unknown(room: &str, id: &str) -> UnknownParticipant {
    UnknownParticipant {
        room: room.to_owned(),
        id: id.to_owned(),
    }
}
