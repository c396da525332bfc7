//! Queries of the registry, which change nothing.

use crate::join::unknown;
use crate::name::{self, participant_name};
use crate::room::{Member, Room, RoomSettings};
use crate::{HoldError, Participant, Proof, Registry, UnknownParticipant};
use std::collections::BTreeSet;

impl Registry {
    /// Visible participants of a room in order of arrival; empty if the room
    /// does not exist.
    #[must_use]
    pub fn participants(&self, room: &str) -> Vec<&Participant> {
        let members = self.rooms.get(room).into_iter();
        let members = members.flat_map(|room| room.members.values());
        let mut members: Vec<&Member> = members.filter(|member| member.is_shown).collect();
        members.sort_by_key(|member| member.arrival);
        members.into_iter().map(|m| &m.participant).collect()
    }

    /// Rooms with participants.
    pub fn rooms(&self) -> impl Iterator<Item = &str> {
        self.rooms.keys().map(String::as_str)
    }

    /// Whether a room has participants on this server.
    #[must_use]
    pub fn is_here(&self, room: &str) -> bool {
        self.rooms.get(room).is_some_and(Room::is_here)
    }

    /// Finds a participant by id, or by display name without regard to case.
    ///
    /// # Errors
    /// If the participant does not exist.
    pub fn find(&self, room: &str, wanted: &str) -> Result<&Participant, UnknownParticipant> {
        let by_id = self.member(room, wanted);
        if let Some(member) = by_id.filter(|member| member.is_shown) {
            return Ok(&member.participant);
        }
        // Only a participant who is moving is listed twice under one name, until they
        // have left the first server.
        let key = participant_name(wanted).map(|name| name::key(&name));
        let all = self.participants(room).into_iter();
        all.filter(|who| key == Ok(name::key(&who.name)))
            .max_by_key(|who| !who.publishing.is_nothing())
            .ok_or_else(|| unknown(room, wanted))
    }

    /// Number of rooms and of participants on this server, including invisible ones.
    #[must_use]
    pub fn count(&self) -> (usize, usize) {
        let here = self.rooms.values().map(|room| room.here().count());
        here.filter(|count| *count > 0)
            .fold((0, 0), |(rooms, all), count| (rooms + 1, all + count))
    }

    /// Settings of a room.
    #[must_use]
    pub fn settings(&self, room: &str) -> RoomSettings {
        let room = self.rooms.get(room);
        room.map_or_else(RoomSettings::default, |room| room.settings)
    }

    /// Whether the proof belongs to a present participant.
    #[must_use]
    pub fn knows(&self, room: &str, id: &str, proof: Option<Proof>) -> bool {
        self.proven(room, id, proof).is_ok()
    }

    /// Whether a participant has moved to another server.
    pub(crate) fn has_moved(&self, room: &str, id: &str) -> bool {
        let room = self.rooms.get(room).into_iter();
        let mut all = room.flat_map(|room| room.members.values());
        all.any(|member| member.participant.succeeds.as_deref() == Some(id))
    }

    pub(crate) fn member(&self, room: &str, id: &str) -> Option<&Member> {
        self.rooms.get(room)?.members.get(id)
    }

    /// Member of this server with this id and proof.
    pub(crate) fn proven(
        &self,
        room: &str,
        id: &str,
        proof: Option<Proof>,
    ) -> Result<&Member, HoldError> {
        let member = self.member(room, id).ok_or_else(|| unknown(room, id))?;
        let is_here = member.server.is_none();
        match is_here && proof.is_some() && proof == member.proof {
            true => Ok(member),
            false => Err(HoldError::Stranger {
                room: room.to_owned(),
                id: id.to_owned(),
            }),
        }
    }

    /// Keys of the names in a room, except those of one participant and of their entries
    /// on the servers that they have moved from and to.
    pub(crate) fn names(&self, room: &str, without: Option<&str>) -> BTreeSet<String> {
        let all = self.rooms.get(room).into_iter();
        let all = all.flat_map(|room| &room.members);
        let is_same = |id: &str| {
            let found = self.rooms.get(room).zip(without);
            found.is_some_and(|(room, own)| room.is_same_person(own, id))
        };
        let others = all.filter(|(id, _)| !is_same(id));
        others
            .map(|(_, member)| name::key(&member.participant.name))
            .collect()
    }
}
