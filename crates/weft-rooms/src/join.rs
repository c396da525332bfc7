//! Who comes into a room, and why somebody may not.

use crate::ParticipantKind;
use thiserror::Error;

/// What proves that somebody is the participant they say: a hash of a secret
/// that only they were told. Hashing is for the caller to do, and to make the
/// secret unguessable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proof(pub [u8; 32]);

/// Places of a room that somebody new may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Every place.
    Host,
    /// All but [`RegistryLimits::kept_for_hosts`](crate::RegistryLimits).
    Guest,
}

/// A wish to be in a room.
#[derive(Debug, Clone, Copy)]
pub struct Join<'a> {
    /// The room, made if new.
    pub room: &'a str,
    /// The name to show.
    pub name: &'a str,
    /// What the participant runs.
    pub kind: ParticipantKind,
    /// Places that they may take.
    pub standing: Standing,
    /// The id of somebody who comes back.
    pub id: Option<&'a str>,
    /// Shown by somebody who comes back.
    pub proof: Option<Proof>,
    /// Will prove who they are if they are somebody new.
    pub fresh: Proof,
    /// Their id then: one that nobody guesses, which is for the caller to make.
    pub fresh_id: &'a str,
}

/// Who came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Joined {
    /// Somebody new, with this id.
    New(String),
    /// Somebody who was there already.
    Back(String),
}

impl Joined {
    /// The participant's id.
    #[must_use]
    pub fn into_id(self) -> String {
        let (Joined::New(id) | Joined::Back(id)) = self;
        id
    }
}

/// Why somebody cannot join.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum JoinError {
    /// The room's name is no name.
    #[error("a room's name has 1 to 64 letters, digits, '-', '_' or '.', and is not only dots")]
    BadRoomName,
    /// The participant's name is no name.
    #[error("a participant's name has 1 to 64 printable characters")]
    BadName,
    /// Too many are in the room.
    #[error("the room is full")]
    RoomFull,
    /// Too many rooms are open.
    #[error("too many rooms are open")]
    TooManyRooms,
}

/// Nobody of that id is in that room.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no participant '{id}' in room '{room}'")]
pub struct UnknownParticipant {
    /// The room that was asked for.
    pub room: String,
    /// The id that was asked for.
    pub id: String,
}

/// Why somebody may not act as a participant.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HoldError {
    /// There is no such participant.
    #[error(transparent)]
    Unknown(#[from] UnknownParticipant),
    /// There is, and it is somebody else.
    #[error("participant '{id}' in room '{room}' is somebody else")]
    Stranger {
        /// The room that was asked for.
        room: String,
        /// The id that was asked for.
        id: String,
    },
}
