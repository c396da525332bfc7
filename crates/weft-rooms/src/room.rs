//! State of one room.

use crate::chat::Chat;
use crate::{Participant, Proof};
use serde::Serialize;
use std::collections::BTreeMap;
use weft_units::Instant;

/// Room: members and chat. It exists while it has members.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) members: BTreeMap<String, Member>,
    pub(crate) chat: Chat,
    /// Number of hands raised so far.
    pub(crate) hands: u64,
    pub(crate) settings: RoomSettings,
}

/// Settings of a room by its moderators, which end with the room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RoomSettings {
    /// Whether newcomers are refused, except hosts.
    pub locked: bool,
    /// Whether newcomers wait until a moderator admits them, except hosts.
    pub waiting_room: bool,
    /// Whether the server records the room.
    pub recorded: bool,
}

impl Room {
    /// Creates an empty room; `epoch` distinguishes it from earlier rooms of
    /// its name.
    pub(crate) fn new(epoch: &str) -> Room {
        Room {
            members: BTreeMap::new(),
            chat: Chat::new(epoch),
            hands: 0,
            settings: RoomSettings::default(),
        }
    }
}

/// Participant with its private state.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) participant: Participant,
    /// Whether the room sees the participant.
    pub(crate) is_shown: bool,
    /// Whether the participant waits to be admitted.
    pub(crate) waits: bool,
    /// Requested name; the displayed one may have a number, and keeps it when
    /// the first participant with the name leaves.
    pub(crate) asked: String,
    /// Number of earlier arrivals.
    pub(crate) arrival: u64,
    pub(crate) proof: Proof,
    pub(crate) holds: u32,
    /// Whether it had a page with an event stream, which may be reloading.
    pub(crate) has_page: bool,
    /// Whether its page was left.
    pub(crate) parts: bool,
    pub(crate) leaves_at: Option<Instant>,
}
