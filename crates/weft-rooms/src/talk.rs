//! Chat, raised hands, reactions and names of participants in a room.

use crate::chat::{Chat, ChatError, ChatMessage, Saying};
use crate::join::unknown;
use crate::name::participant_name;
use crate::room::Room;
use crate::{Change, Hand, HoldError, JoinError, Proof, Reaction, Registry};
use weft_units::Instant;

impl Registry {
    /// Checks that the proof is that of a participant whom the room sees.
    ///
    /// # Errors
    /// See [`HoldError`].
    pub fn check_inside(
        &self,
        room: &str,
        id: &str,
        proof: Option<Proof>,
    ) -> Result<(), HoldError> {
        let member = self.proven(room, id, proof)?;
        match member.is_shown {
            true => Ok(()),
            false if member.waits => Err(HoldError::Waiting {
                room: room.to_owned(),
                id: id.to_owned(),
            }),
            false => Err(HoldError::Unknown(unknown(room, id))),
        }
    }

    /// Sends a message of a participant to the room. Returns its id; a message
    /// with a key that the participant has used is not sent again.
    ///
    /// # Errors
    /// If the message is invalid.
    pub fn say(
        &mut self,
        now: Instant,
        (room, id): (&str, &str),
        saying: &Saying<'_>,
    ) -> Result<Option<String>, ChatError> {
        let text = Chat::check(saying)?;
        let Some(Room { members, chat, .. }) = self.rooms.get_mut(room) else {
            return Ok(None);
        };
        let Some(member) = members.get(id) else {
            return Ok(None);
        };
        if let Some(before) = chat.sent(id, saying.key) {
            return Ok(Some(before.id.clone()));
        }
        let message = chat.add(now, (id, &member.participant.name), text, saying);
        let said = message.id.clone();
        self.tell(room, Change::Said(message));
        Ok(Some(said))
    }

    /// Whether the participant has sent a message with this key.
    #[must_use]
    pub fn has_said(&self, room: &str, id: &str, key: Option<&str>) -> bool {
        let room = self.rooms.get(room);
        room.is_some_and(|room| room.chat.sent(id, key).is_some())
    }

    /// Messages of a room's chat after the one with this id, or all that the
    /// history has.
    #[must_use]
    pub fn chat(&mut self, now: Instant, room: &str, after: Option<&str>) -> Vec<&ChatMessage> {
        let room = self.rooms.get_mut(room);
        room.map_or_else(Vec::new, |room| room.chat.since(now, after))
    }

    /// Raises or lowers a participant's hand. Raising a raised hand keeps its
    /// place.
    pub fn set_hand(&mut self, room: &str, id: &str, hand: Hand) {
        let Some(Room { members, hands, .. }) = self.rooms.get_mut(room) else {
            return;
        };
        let Some(member) = members.get_mut(id) else {
            return;
        };
        let place = match hand {
            Hand::Raised => Some(member.participant.hand.unwrap_or(*hands + 1)),
            Hand::Lowered => None,
        };
        *hands = (*hands).max(place.unwrap_or(0));
        if member.participant.hand != place {
            member.participant.hand = place;
            let changed = member.participant.clone();
            self.tell(room, Change::Changed(changed));
        }
    }

    /// Shows a reaction of a participant to the room.
    pub fn react(&mut self, room: &str, id: &str, reaction: Reaction) {
        let id = id.to_owned();
        self.tell(room, Change::Reacted { id, reaction });
    }

    /// Whether a present participant requests another name than before.
    #[must_use]
    pub fn renames(&self, room: &str, id: &str, typed: &str) -> bool {
        self.member(room, id)
            .is_some_and(|member| participant_name(typed).as_ref() != Ok(&member.asked))
    }

    /// Gives a participant another name. Returns the displayed name, which has
    /// a number if another participant has the name.
    ///
    /// # Errors
    /// [`JoinError::BadName`] if the name is invalid.
    pub fn set_name(&mut self, room: &str, id: &str, typed: &str) -> Result<String, JoinError> {
        let name = participant_name(typed)?;
        self.rename(room, id, &name);
        let shown = self.member(room, id).map(|m| m.participant.name.clone());
        Ok(shown.unwrap_or(name))
    }
}

#[cfg(test)]
mod tests;
