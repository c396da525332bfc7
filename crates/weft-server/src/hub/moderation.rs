//! Moderation by the operator, and by participants who may moderate.

use super::bars::Bar;
use super::cluster::{Action, Removal};
use super::state::{Guest, State};
use super::talk::inside;
use super::{Arrival, Hub};
use crate::auth::TokenId;
use crate::config::Limits;
use crate::media_plane::Sound;
use crate::problem::Problem;
use crate::report::{ParticipantReport, RoomFigures, RoomReport};
use std::collections::BTreeSet;
use weft_rooms::{RoomSettings, UnknownParticipant, Upload};
use weft_units::Duration;

/// Time for which a participant removed by a moderator is kept out by their address,
/// which others may share. Chosen by us.
const REMOVED: Duration = Duration::from_secs(600);
/// Time for which their signed token, if it is not revoked, admits no new participant.
/// Chosen by us.
const REMOVED_TOKEN: Duration = Duration::from_secs(24 * 3600);

impl Hub {
    /// Returns all rooms with participants, and the closed ones.
    pub(crate) fn report(&self) -> Vec<RoomReport> {
        let state = self.lock();
        let now = self.clock.now();
        let rooms = state.registry.rooms().chain(state.bars.closed(now));
        let rooms: BTreeSet<&str> = rooms.collect();
        let seconds = |time: Duration| time.as_millis().div_ceil(1000);
        let report = |room: &str| RoomReport {
            room: room.to_owned(),
            closed_for: state.bars.closed_for(now, room).map(seconds),
            participants: state
                .registry
                .participants(room)
                .into_iter()
                .map(|who| {
                    let guest = state.guests.get(&(room.to_owned(), who.id.clone()));
                    let origin = guest.map(|guest| &guest.origin);
                    ParticipantReport {
                        id: who.id.clone(),
                        name: who.name.clone(),
                        kind: who.kind,
                        publishing: who.publishing.clone(),
                        seconds: guest.map_or(0, |g| seconds(now.saturating_since(g.since))),
                        token: origin
                            .and_then(|origin| origin.grant.as_ref())
                            .map(|grant| grant.id().clone()),
                        from: origin.and_then(|origin| origin.network),
                    }
                })
                .collect(),
        };
        rooms.into_iter().map(report).collect()
    }

    /// Returns the statistics of every room with participants.
    pub(crate) fn room_figures(&self) -> Vec<RoomFigures> {
        let state = self.lock();
        let registry = &state.registry;
        let figures = |room| RoomFigures::of(room, &registry.participants(room));
        registry.rooms().map(figures).collect()
    }

    /// Changes the limits for newcomers and new connections. Present participants stay.
    pub(crate) fn set_limits(&self, limits: Limits) {
        let mut state = self.lock();
        state.registry.set_limits(limits.registry());
        state.limits = limits;
    }

    /// Removes a participant, by id or name, and keeps them out for this time:
    /// voids their secret, and bars newcomers with their signed token, or from
    /// their address if they have none. Returns their id and name.
    pub(crate) fn remove(
        &self,
        room: &str,
        wanted: &str,
        length: Duration,
    ) -> Result<(String, String), UnknownParticipant> {
        let mut state = self.lock();
        let found = state.registry.find(room, wanted)?;
        let (id, name) = (found.id.clone(), found.name.clone());
        let millis = Some(length.as_millis());
        if !self.asks_elsewhere(&state, (room, &id), Action::Remove { millis }) {
            self.remove_here(&mut state, room, id.clone(), Some(length));
        }
        Ok((id, name))
    }

    /// Removes everybody from a room and closes it for this time, on all servers. Returns
    /// the number of participants removed from this one.
    pub(crate) fn close_room(&self, room: &str, length: Duration) -> usize {
        let mut state = self.lock();
        self.tell_closed(room, length);
        self.close_here(&mut state, room, length)
    }

    /// Closes a room on this server.
    pub(super) fn close_here(&self, state: &mut State, room: &str, length: Duration) -> usize {
        state.bars.add(self.clock.now(), room, Bar::Room, length);
        // Includes participants whom the room does not show yet.
        let all = state.guests.keys().filter(|(of, _)| of == room);
        let all: Vec<String> = all.map(|(_, id)| id.clone()).collect();
        for id in &all {
            self.expel(state, room, id);
        }
        self.publish_changes(state);
        all.len()
    }

    /// Opens a closed room.
    pub(crate) fn open_room(&self, room: &str) {
        let now = self.clock.now();
        let mut state = self.lock();
        state.bars.add(now, room, Bar::Room, Duration::ZERO);
    }

    /// Mutes a participant, by id or name. Returns their id and name.
    pub(crate) fn mute_for_operator(
        &self,
        room: &str,
        wanted: &str,
    ) -> Result<(String, String), UnknownParticipant> {
        let mut state = self.lock();
        let found = state.registry.find(room, wanted)?;
        let (id, name) = (found.id.clone(), found.name.clone());
        self.set_muted(&mut state, room, &id, Sound::Muted);
        Ok((id, name))
    }

    /// Whether a participant here entered with this token or a descendant.
    pub(crate) fn has_token(&self, token: &TokenId) -> bool {
        let state = self.lock();
        let mut grants = state
            .guests
            .values()
            .filter_map(|g| g.origin.grant.as_ref());
        grants.any(|grant| grant.descends_from(token))
    }

    /// Ends everything admitted by a token or its descendants. Returns the
    /// number of removed participants.
    pub(crate) fn end_token(&self, token: &TokenId) -> usize {
        let mut state = self.lock();
        let holders = state.guests.iter().filter(|(_, guest)| {
            let grant = guest.origin.grant.as_ref();
            grant.is_some_and(|grant| grant.descends_from(token))
        });
        let holders: Vec<(String, String)> = holders.map(|(place, _)| place.clone()).collect();
        for (room, id) in &holders {
            self.expel(&mut state, room, id);
        }
        // Event streams of participants who entered with another token.
        state.feeds.retain(|feed| {
            let grant = feed.origin.grant.as_ref();
            !grant.is_some_and(|grant| grant.descends_from(token))
        });
        for (resource, of) in state.resources.take_all_by(token) {
            self.media.close(resource);
            if of.is_publication() {
                state.show_publishing(&of.room, &of.participant, Upload::None);
            }
            let now = self.clock.now();
            state.registry.finish(now, &of.room, &of.participant);
        }
        self.publish_changes(&mut state);
        holders.len()
    }

    /// Removes the participant and closes their event streams. Their media
    /// connections end in [`Hub::tell`].
    fn expel(&self, state: &mut State, room: &str, id: &str) {
        state.registry.leave(room, id);
        state
            .feeds
            .retain(|feed| !(feed.room == room && feed.participant == id));
    }
}

impl Hub {
    /// Checks that the arrival is inside the room; returns their id. The route
    /// has checked that their token may moderate.
    pub(super) fn moderator<'a>(
        &self,
        state: &State,
        who: &Arrival<'a>,
    ) -> Result<&'a str, Problem> {
        self.check_revoked(who)?;
        inside(state, who)
    }

    /// Mutes a participant: the server forwards no sound of theirs until they
    /// unmute themselves.
    pub(crate) fn mute(&self, who: &Arrival<'_>, target: &str) -> Result<(), Problem> {
        let mut state = self.lock();
        self.moderator(&state, who)?;
        let id = state.registry.find(who.room, target)?.id.clone();
        if !self.asks_elsewhere(&state, (who.room, &id), Action::Mute) {
            self.set_muted(&mut state, who.room, &id, Sound::Muted);
        }
        Ok(())
    }

    /// Ends the mute of the arrival by a moderator.
    pub(crate) fn unmute(&self, who: &Arrival<'_>) -> Result<(), Problem> {
        let mut state = self.lock();
        let id = inside(&state, who)?;
        self.set_muted(&mut state, who.room, id, Sound::Forwarded);
        Ok(())
    }

    #[cfg(test)]
    pub(crate) fn is_muted(&self, room: &str, id: &str) -> bool {
        self.lock().registry.is_muted(room, id)
    }

    pub(super) fn set_muted(&self, state: &mut State, room: &str, id: &str, sound: Sound) {
        state.registry.set_muted(room, id, sound == Sound::Muted);
        let place = (room.to_owned(), id.to_owned());
        if let Some(guest) = state.guests.get_mut(&place) {
            guest.sound = sound;
        }
        // The order of requests under the lock is the order of their effects.
        self.media.set_sound(room, id, sound);
        let upload = state.registry.find(room, id).map(|who| who.upload);
        state.show_publishing(room, id, upload.unwrap_or_default());
        self.publish_changes(state);
    }

    /// Removes a participant for a moderator, even one who waits. Their token admits no
    /// newcomers; a participant without one is kept out for some minutes.
    pub(crate) fn remove_by(&self, who: &Arrival<'_>, target: &str) -> Result<Removal, Problem> {
        let mut state = self.lock();
        self.moderator(&state, who)?;
        let waiting = state.registry.waiting(who.room).into_iter();
        let waiting = waiting.map(|p| p.id.clone()).find(|id| id == target);
        let id = match waiting {
            Some(id) => id,
            None => state.registry.find(who.room, target)?.id.clone(),
        };
        if self.asks_elsewhere(&state, (who.room, &id), Action::Remove { millis: None }) {
            return Ok(Removal { id, token: None });
        }
        Ok(self.remove_here(&mut state, who.room, id, None))
    }

    /// Removes a participant of this server and keeps them out of all servers: for this
    /// time, or for as long as a moderator does.
    pub(super) fn remove_here(
        &self,
        state: &mut State,
        room: &str,
        id: String,
        length: Option<Duration>,
    ) -> Removal {
        let guest = state.guests.get(&(room.to_owned(), id.clone()));
        let bar = guest.and_then(Guest::bar);
        let token = guest.and_then(|guest| guest.origin.grant.as_ref());
        let token = token.map(|grant| grant.id().clone());
        let of_moderator = match &bar {
            Some(Bar::Token(_)) => REMOVED_TOKEN,
            _ => REMOVED,
        };
        // The operator revokes tokens with another order.
        let token = token.filter(|_| length.is_none());
        let length = length.unwrap_or(of_moderator);
        let now = self.clock.now();
        for bar in [Bar::Participant(id.clone())].into_iter().chain(bar) {
            self.tell_bar(room, bar.clone(), length);
            state.bars.add(now, room, bar, length);
        }
        self.expel(state, room, &id);
        self.publish_changes(state);
        let grants = state
            .guests
            .values()
            .filter_map(|g| g.origin.grant.as_ref());
        let grants = grants.collect::<Vec<_>>();
        let held = |token: &TokenId| grants.iter().any(|grant| grant.descends_from(token));
        let token = token.filter(|token| !held(token));
        Removal { id, token }
    }

    /// Admits a waiting participant.
    pub(crate) fn admit(&self, who: &Arrival<'_>, target: &str) -> Result<(), Problem> {
        let mut state = self.lock();
        self.moderator(&state, who)?;
        let admitted = self.asks_elsewhere(&state, (who.room, target), Action::Admit)
            || state.registry.admit(who.room, target);
        self.publish_changes(&mut state);
        match admitted {
            true => Ok(()),
            false => Err(UnknownParticipant {
                room: who.room.to_owned(),
                id: target.to_owned(),
            }
            .into()),
        }
    }

    /// Changes a room's settings; `None` leaves one unchanged.
    pub(crate) fn set_settings(
        &self,
        who: &Arrival<'_>,
        (locked, waiting_room): (Option<bool>, Option<bool>),
    ) -> Result<(), Problem> {
        let mut state = self.lock();
        let id = self.moderator(&state, who)?;
        state.check_pace(who.room, id, self.clock.now())?;
        let before = state.registry.settings(who.room);
        let settings = RoomSettings {
            locked: locked.unwrap_or(before.locked),
            waiting_room: waiting_room.unwrap_or(before.waiting_room),
            ..before
        };
        state.registry.set_settings(who.room, settings);
        self.tell_settings(&mut state, who.room);
        self.publish_changes(&mut state);
        Ok(())
    }
}
