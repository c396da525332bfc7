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
    /// simultaneous changes, all servers keep the same one.
    pub(crate) version: (u64, String),
    pub(crate) recorder: Recorder,
}

/// Settings of a room, made by its moderators; they end with the room.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomSettings {
    /// Whether newcomers are refused, except hosts.
    pub locked: bool,
    /// Whether newcomers wait until a moderator admits them, except hosts.
    pub waiting_room: bool,
    /// Whether a server records the room.
    pub recorded: bool,
}

/// Server that records a room. Of two values, all servers keep the one with the later version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorder {
    /// Name of the server; `None` while the room is not recorded.
    pub server: Option<String>,
    /// Number of changes, and the server that made the last one.
    pub version: (u64, String),
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
            recorder: Recorder::default(),
        }
    }

    /// Members on this server.
    pub(crate) fn here(&self) -> impl Iterator<Item = &Member> {
        let all = self.members.values();
        all.filter(|member| member.server.is_none())
    }

    /// Member of another server whose id and proof a newcomer presents: the newcomer moves here.
    pub(crate) fn predecessor(&self, id: Option<&str>, proof: Option<Proof>) -> Option<&Member> {
        let member = self.members.get(id?)?;
        let is_same = member.server.is_some() && proof.is_some() && member.proof == proof;
        is_same.then_some(member)
    }

    /// Whether two members are one person who has moved from one server to another, perhaps
    /// several times.
    pub(crate) fn is_same_person(&self, one: &str, other: &str) -> bool {
        self.comes_from(one, other) || self.comes_from(other, one)
    }

    fn comes_from(&self, id: &str, earlier: &str) -> bool {
        let before = |id: &&str| self.members.get(*id)?.participant.succeeds.as_deref();
        // Other servers name the predecessors, which could form a cycle.
        let mut line = std::iter::successors(Some(id), before).take(self.members.len() + 1);
        line.any(|id| id == earlier)
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
    /// Proof of the identity: on the member's own server for requests, on another one for
    /// moving there. `None` if the other server does not send it.
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
