//! Moderation by the operator.

use super::Hub;
use super::bars::Bar;
use super::state::{Guest, State};
use crate::auth::TokenId;
use crate::report::{ParticipantReport, RoomReport};
use std::collections::BTreeSet;
use weft_rooms::{UnknownParticipant, Upload};
use weft_units::Duration;

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
        let now = self.clock.now();
        let found = state.registry.find(room, wanted)?;
        let (id, name) = (found.id.clone(), found.name.clone());
        let guest = state.guests.get(&(room.to_owned(), id.clone()));
        let more = guest.and_then(Guest::bar);
        for bar in [Bar::Participant(id.clone())].into_iter().chain(more) {
            state.bars.add(now, room, bar, length);
        }
        self.expel(&mut state, room, &id);
        self.publish_changes(&mut state);
        Ok((id, name))
    }

    /// Removes everybody from a room and closes it for this time. Returns the
    /// number of removed participants.
    pub(crate) fn close_room(&self, room: &str, length: Duration) -> usize {
        let mut state = self.lock();
        let now = self.clock.now();
        state.bars.add(now, room, Bar::Room, length);
        // Includes participants whom the room does not show yet.
        let all = state.guests.keys().filter(|(of, _)| of == room);
        let all: Vec<String> = all.map(|(_, id)| id.clone()).collect();
        for id in &all {
            self.expel(&mut state, room, id);
        }
        self.publish_changes(&mut state);
        all.len()
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
