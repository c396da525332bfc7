//! Publication of the registry's changes: to the participants, the log, and the other
//! servers of a cluster.

use super::Hub;
use super::state::{State, change_message};
use crate::log::ServerEvent;
use crate::media_plane::Sound;
use weft_rooms::{Change, RoomEvent};

impl Hub {
    /// Publishes the registry's changes.
    pub(super) fn publish_changes(&self, state: &mut State) {
        while let Some(RoomEvent { room, change }) = state.registry.poll_output() {
            let is_ours = is_ours(state, &room, &change);
            if let Change::Left { id } | Change::Withdrawn { id } = &change {
                let guest = state.guests.remove(&(room.clone(), id.clone()));
                if guest.is_some_and(|guest| guest.sound == Sound::Muted) {
                    self.media.set_sound(&room, id, Sound::Forwarded);
                }
                for (resource, of) in state.resources.take_all_of(&room, id) {
                    self.media.close(resource);
                    let now = self.clock.now();
                    state.registry.release(now, &of.room, &of.participant);
                }
            }
            self.follow_recorded(state, &room, &change);
            if is_ours {
                self.write_down(&room, &change);
            }
            self.tell_change(state, &room, &change, is_ours);
            match &change {
                Change::Waiting => state.notify_moderators(&room),
                Change::Admitted { id } => state.welcome_admitted(self.clock.now(), &room, id),
                _ => {}
            }
            if let Some(message) = change_message(&change) {
                state.notify_room(&room, &message);
            }
        }
        state.feeds.retain(|feed| !feed.sender.is_closed());
        self.population.send_replace(state.registry.count().1);
        self.rescheduled.notify_one();
        self.notice_viewers();
    }

    fn write_down(&self, room: &str, change: &Change) {
        if let Some(webhooks) = &self.webhooks {
            webhooks.note(room, change);
        }
        let room = || room.to_owned();
        match change {
            Change::Joined(who) => self.log.emit(|| ServerEvent::Joined {
                room: room(),
                id: who.id.clone(),
                name: who.name.clone(),
                kind: who.kind,
            }),
            Change::Left { id } => self.log.emit(|| ServerEvent::Left {
                room: room(),
                id: id.clone(),
            }),
            Change::Changed(_)
            | Change::Settings(_)
            | Change::Waiting
            | Change::Admitted { .. }
            | Change::Links { .. }
            | Change::Said(_)
            | Change::Reacted { .. }
            | Change::Withdrawn { .. } => {}
        }
    }
}

/// Whether the participant of a change is on this server.
fn is_ours(state: &State, room: &str, change: &Change) -> bool {
    let id = match change {
        Change::Joined(who) | Change::Changed(who) => &who.id,
        Change::Said(message) => &message.from,
        Change::Links { id, .. }
        | Change::Reacted { id, .. }
        | Change::Admitted { id }
        | Change::Left { id }
        | Change::Withdrawn { id } => id,
        Change::Settings(_) | Change::Waiting => return false,
    };
    state.guests.contains_key(&(room.to_owned(), id.clone()))
}
