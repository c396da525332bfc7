//! What changes in a room.

use crate::{LinkReport, Participant};

/// A change in a room, to be told to all in it.
#[derive(Debug, Clone, PartialEq)]
pub struct RoomEvent {
    /// The room's name.
    pub room: String,
    /// What changed.
    pub change: Change,
}

/// What changed in a room.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Somebody came.
    Joined(Participant),
    /// Somebody publishes more or less than before, or has another kind or
    /// name.
    Changed(Participant),
    /// Somebody's links have new figures.
    Links {
        /// Id of the participant whose links they are.
        id: String,
        /// One for each link that the sender told of.
        links: Vec<LinkReport>,
    },
    /// Somebody went.
    Left {
        /// The public id of whoever went.
        id: String,
    },
    /// Somebody went whom the room never knew of: not for the others.
    Withdrawn {
        /// The id that they would have had.
        id: String,
    },
}
