//! State of one room.

use crate::chat::Chat;
use crate::{Participant, Proof};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use weft_units::Instant;

/// Room: members and chat. It exists while it has members, on this server or another
/// one of its cluster.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) members: BTreeMap<String, Member>,
    pub(crate) chat: Chat,
    /// Number of hands raised so far.
    pub(crate) hands: u64,
    pub(crate) settings: RoomSettings,
    /// Number of changes of the settings, and the server that made the last one: of two
    /// changes at the same time, all servers keep the same one.
    pub(crate) version: (u64, String),
}

/// Settings of a room by its moderators, which end with the room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
            version: (0, String::new()),
        }
    }

    /// Members on this server.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Member> {
        let all = self.members.values();
        all.filter(|member| member.server.is_none())
    }

    /// Whether it has members on this server.
    pub(crate) fn is_here(&self) -> bool {
        self.here().next().is_some()
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
    /// `None` for a participant of another server, which alone can prove who they are.
    pub(crate) proof: Option<Proof>,
    /// Other server of the cluster that the participant is on.
    pub(crate) server: Option<String>,
    pub(crate) holds: u32,
    /// Whether it had a page with an event stream, which may be reloading.
    pub(crate) has_page: bool,
    /// Whether its page was left.
    pub(crate) parts: bool,
    pub(crate) leaves_at: Option<Instant>,
}
