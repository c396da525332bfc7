//! Changes in a room.

use crate::{ChatMessage, LinkReport, Participant, Reaction, RoomSettings};

/// Change in a room, for all its participants.
#[derive(Debug, Clone, PartialEq)]
pub struct RoomEvent {
    /// Name of the room.
    pub room: String,
    /// Change of the room.
    pub change: Change,
}

/// Kind of change.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// A participant joined.
    Joined(Participant),
    /// A participant changed the published tracks, the kind or the name.
    Changed(Participant),
    /// A participant's links have new statistics.
    Links {
        /// Id of the participant.
        id: String,
        /// One report for each link of the sender.
        links: Vec<LinkReport>,
    },
    /// A participant sent a message.
    Said(ChatMessage),
    /// A participant reacted.
    Reacted {
        /// Id of the participant.
        id: String,
        /// Reaction to show.
        reaction: Reaction,
    },
    /// Moderators changed the room's settings.
    Settings(RoomSettings),
    /// The list of participants who wait to be admitted has changed; for moderators.
    Waiting,
    /// A participant who waited was admitted; for that participant.
    Admitted {
        /// Id of the participant.
        id: String,
    },
    /// A participant left.
    Left {
        /// Public id of the participant.
        id: String,
    },
    /// A participant left who was never visible to the room; not for the others.
    Withdrawn {
        /// Id reserved for the participant.
        id: String,
    },
}
