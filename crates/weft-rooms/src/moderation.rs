//! Lock, waiting room and muting of participants.

use crate::room::RoomSettings;
use crate::{Change, Participant, Registry};

impl Registry {
    /// Changes the settings of a room. Without a waiting room, everybody who
    /// waits is admitted.
    pub fn set_settings(&mut self, room: &str, settings: RoomSettings) {
        let Some(of_room) = self.rooms.get_mut(room) else {
            return;
        };
        if std::mem::replace(&mut of_room.settings, settings) != settings {
            self.tell(room, Change::Settings(settings));
        }
        if !settings.waiting_room {
            let waiting = self.waiting(room).into_iter().map(|who| who.id.clone());
            for id in waiting.collect::<Vec<_>>() {
                self.admit(room, &id);
            }
        }
    }

    /// Participants who wait to be admitted, in order of arrival.
    #[must_use]
    pub fn waiting(&self, room: &str) -> Vec<&Participant> {
        let members = self.rooms.get(room).into_iter();
        let members = members.flat_map(|room| room.members.values());
        let mut waiting: Vec<_> = members.filter(|member| member.waits).collect();
        waiting.sort_by_key(|member| member.arrival);
        waiting.into_iter().map(|m| &m.participant).collect()
    }

    /// Whether the participant waits to be admitted.
    #[must_use]
    pub fn is_waiting(&self, room: &str, id: &str) -> bool {
        self.member(room, id).is_some_and(|member| member.waits)
    }

    /// Admits a waiting participant of this server; returns whether there was one.
    pub fn admit(&mut self, room: &str, id: &str) -> bool {
        let members = self.rooms.get_mut(room).map(|room| &mut room.members);
        let member = members.and_then(|members| members.get_mut(id));
        let Some(member) = member.filter(|member| member.server.is_none()) else {
            return false;
        };
        if !std::mem::replace(&mut member.waits, false) {
            return false;
        }
        self.tell(room, Change::Waiting);
        let admitted = id.to_owned();
        self.tell(room, Change::Admitted { id: admitted });
        self.show(room, id);
        true
    }

    /// Whether a present participant may moderate.
    #[must_use]
    pub fn is_moderator(&self, room: &str, id: &str) -> bool {
        let member = self.member(room, id).filter(|member| member.is_shown);
        member.is_some_and(|member| member.participant.moderator)
    }

    /// Whether a moderator has muted the participant.
    #[must_use]
    pub fn is_muted(&self, room: &str, id: &str) -> bool {
        let member = self.member(room, id);
        member.is_some_and(|member| member.participant.muted)
    }

    /// Records whether a participant is muted. The room then sees no sound.
    pub fn set_muted(&mut self, room: &str, id: &str, muted: bool) {
        let members = self.rooms.get_mut(room).map(|room| &mut room.members);
        let member = members.and_then(|members| members.get_mut(id));
        if let Some(member) = member
            && std::mem::replace(&mut member.participant.muted, muted) != muted
        {
            let changed = member.participant.clone();
            self.tell(room, Change::Changed(changed));
        }
    }
}

#[cfg(test)]
mod tests;
