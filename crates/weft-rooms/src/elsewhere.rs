//! Participants who are on other servers of the same cluster. The room sees them like
//! its own; only their server can act for them.

use crate::name;
use crate::room::{Member, Room};
use crate::{Change, ChatMessage, Participant, Proof, Recorder, Registry, RoomSettings};
use serde::{Deserialize, Serialize};
use weft_units::Instant;

/// Participant as a server announces it to the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Presence {
    /// Public data.
    pub participant: Participant,
    /// Whether the participant waits to be admitted; only moderators see waiting participants.
    #[serde(default)]
    pub waits: bool,
    /// Proof of the participant's identity, with which they may move to another server.
    #[serde(default)]
    pub proof: Option<Proof>,
}

/// Order of changes of a room's settings: their number, and the server that made the
/// last one.
pub type SettingsVersion = (u64, String);

/// State of a room on one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RoomState {
    /// Name of the room.
    pub room: String,
    /// Participants on the server.
    pub participants: Vec<Presence>,
    /// Settings by the moderators.
    pub settings: RoomSettings,
    /// Order of these settings among those of other servers.
    pub version: SettingsVersion,
    /// Server that records the room.
    #[serde(default)]
    pub recorder: Recorder,
    /// Messages of the chat, from all servers.
    pub chat: Vec<ChatMessage>,
}

impl Registry {
    /// Returns the state of a room on this server; `None` without participants here.
    pub fn state_of(&mut self, now: Instant, room: &str) -> Option<RoomState> {
        let found = self.rooms.get_mut(room).filter(|found| found.is_here())?;
        Some(RoomState {
            room: room.to_owned(),
            participants: found.here().filter_map(presence).collect(),
            settings: found.settings,
            version: found.version.clone(),
            recorder: found.recorder.clone(),
            chat: found.chat.since(now, None).into_iter().cloned().collect(),
        })
    }

    /// Returns a participant of this server as the other servers see it; `None` if they
    /// do not see it.
    #[must_use]
    pub fn presence(&self, room: &str, id: &str) -> Option<Presence> {
        let member = self.member(room, id);
        presence(member.filter(|member| member.server.is_none())?)
    }

    /// Returns the other server that a participant is on.
    #[must_use]
    pub fn server_of(&self, room: &str, id: &str) -> Option<&str> {
        self.member(room, id)?.server.as_deref()
    }

    /// Visible participants of a room on other servers, and the names of the servers.
    pub fn elsewhere(&self, room: &str) -> impl Iterator<Item = (&Participant, &str)> {
        let found = self.rooms.get(room).into_iter();
        let members = found.flat_map(|room| room.members.values());
        let shown = members.filter(|member| member.is_shown);
        shown.filter_map(|member| Some((&member.participant, member.server.as_deref()?)))
    }

    /// Replaces the state of a room on another server. `epoch` is new and unpredictable;
    /// it starts the ids of messages if the room is new here.
    pub fn set_elsewhere(&mut self, now: Instant, server: &str, state: RoomState, epoch: &str) {
        let room = &state.room;
        let present = |id: &str| state.participants.iter().any(|p| p.participant.id == id);
        for id in self.on_server(room, server) {
            if !present(&id) {
                self.leave(room, &id);
            }
        }
        for presence in state.participants.iter().cloned() {
            self.place(room, server, presence, epoch);
        }
        self.take_settings(room, state.settings, state.version);
        self.take_recorder(room, state.recorder);
        for message in &state.chat {
            self.take_message(now, room, message);
        }
    }

    /// Records the present state of a participant on another server. Ignores ids that
    /// this server or a third one has.
    pub fn place(&mut self, room: &str, server: &str, presence: Presence, epoch: &str) {
        let Presence {
            participant,
            waits,
            proof,
        } = presence;
        let id = participant.id.clone();
        let arrival = self.next_arrival();
        let found = self.rooms.entry(room.to_owned());
        let found = found.or_insert_with(|| Room::new(epoch));
        found.hands = found.hands.max(participant.hand.unwrap_or(0));
        let Some(member) = found.members.get_mut(&id) else {
            let member = Member {
                is_shown: !waits,
                waits,
                asked: participant.name.clone(),
                participant: participant.clone(),
                arrival,
                proof,
                server: Some(server.to_owned()),
                holds: 0,
                has_page: false,
                parts: false,
                leaves_at: None,
            };
            found.members.insert(id, member);
            let change = match waits {
                true => Change::Waiting,
                false => Change::Joined(participant.clone()),
            };
            self.tell(room, change);
            self.leave_after_move(room, &participant);
            return self.yield_name(room, &participant);
        };
        if member.server.as_deref() != Some(server) {
            return;
        }
        member.proof = proof;
        let was = std::mem::replace(&mut member.participant, participant.clone());
        let waited = std::mem::replace(&mut member.waits, waits);
        member.is_shown = !waits;
        if waited && !waits {
            self.tell(room, Change::Waiting);
            self.tell(room, Change::Joined(participant));
        } else if was != participant {
            let links = participant.links.clone();
            let of_links = Participant {
                links: links.clone(),
                ..was
            };
            let change = match of_links == participant {
                true => Change::Links { id, links },
                false => Change::Changed(participant.clone()),
            };
            self.tell(room, change);
            self.yield_name(room, &participant);
        }
    }

    /// Removes a participant who has left another server.
    pub fn displace(&mut self, room: &str, server: &str, id: &str) {
        if self.server_of(room, id) == Some(server) {
            self.leave(room, id);
        }
    }

    /// Removes all participants of another server from the rooms that `kept` refuses.
    pub fn displace_all(&mut self, server: &str, kept: impl Fn(&str) -> bool) {
        let rooms = self.rooms.keys().filter(|room| !kept(room)).cloned();
        for room in rooms.collect::<Vec<_>>() {
            for id in self.on_server(&room, server) {
                self.leave(&room, &id);
            }
        }
    }

    /// Adds a message from another server to the chat of a room that has participants.
    pub fn take_message(&mut self, now: Instant, room: &str, message: &ChatMessage) {
        let found = self.rooms.get_mut(room);
        if found.is_some_and(|found| found.chat.take(now, message)) {
            self.tell(room, Change::Said(message.clone()));
        }
    }

    /// Accepts the settings of a room from another server, unless later ones are known.
    pub fn take_settings(&mut self, room: &str, settings: RoomSettings, version: SettingsVersion) {
        let Some(found) = self.rooms.get_mut(room) else {
            return;
        };
        if version > found.version {
            found.version = version;
            // The recorder has its own version.
            let recorded = found.settings.recorded;
            let settings = RoomSettings {
                recorded,
                ..settings
            };
            self.set_settings(room, settings);
        }
    }

    /// Gives a room's settings, which this server has changed, a version among those of
    /// other servers.
    pub fn stamp_settings(&mut self, room: &str, server: &str) -> SettingsVersion {
        let Some(found) = self.rooms.get_mut(room) else {
            return SettingsVersion::default();
        };
        found.version = (found.version.0 + 1, server.to_owned());
        found.version.clone()
    }

    /// Removes a participant of this server who has returned on another one and has no hold here.
    fn leave_after_move(&mut self, room: &str, now_elsewhere: &Participant) {
        let earlier = now_elsewhere.succeeds.as_deref();
        let member = earlier.and_then(|id| self.member(room, id));
        let is_done = member.is_some_and(|member| member.server.is_none() && member.holds == 0);
        if let Some(id) = earlier.filter(|_| is_done) {
            self.leave(room, id);
        }
    }

    /// Adds a number to the name of a participant of this server if a participant of another one
    /// has the same name. Both servers see the pair: the participant with the greater id yields.
    fn yield_name(&mut self, room: &str, other: &Participant) {
        let key = name::key(&other.name);
        let found = self.rooms.get(room).into_iter();
        let mut here = found.flat_map(|room| room.here().map(move |member| (room, member)));
        let same = here.find(|(room, member)| {
            let own = &member.participant;
            let is_equal = name::key(&own.name) == key && own.id > other.id;
            is_equal && !room.is_same_person(&own.id, &other.id)
        });
        let id = same.map(|(_, member)| member.participant.id.clone());
        drop(here);
        if let Some(id) = id {
            self.renumber(room, &id);
        }
    }

    fn on_server(&self, room: &str, server: &str) -> Vec<String> {
        let found = self.rooms.get(room).into_iter();
        let members = found.flat_map(|room| &room.members);
        let members = members.filter(|(_, member)| member.server.as_deref() == Some(server));
        members.map(|(id, _)| id.clone()).collect()
    }
}

/// Returns a member as the other servers see it; `None` if they do not see it.
fn presence(member: &Member) -> Option<Presence> {
    (member.is_shown || member.waits).then(|| Presence {
        participant: member.participant.clone(),
        waits: member.waits,
        proof: member.proof,
    })
}

#[cfg(test)]
mod tests;
