//! Tracks of a room, and the lines that carry them to each participant who receives it.

use crate::connection::{Connection, ResourceId, Role, Sender};
use crate::event::Event;
use crate::plane::Plane;
use crate::publisher::Publisher;
use crate::reception::{Candidate, Reception};
use std::collections::VecDeque;
use weft_peer::PeerKey;
use weft_units::Instant;

impl Connection {
    /// Returns the reception if this is an established one.
    pub(crate) fn reception(&self) -> Option<(PeerKey, &Reception)> {
        match &self.role {
            Role::Receive(reception) if self.connected => Some((self.peer()?, reception)),
            _ => None,
        }
    }
}

impl Plane {
    /// Returns the tracks that others publish in a participant's room.
    pub(crate) fn candidates(&self, receiver: &Publisher) -> Vec<Candidate> {
        let first = Publisher {
            room: receiver.room.clone(),
            participant: String::new(),
        };
        let there = self.publications.range(first..);
        let there = there.take_while(|(publisher, _)| publisher.room == receiver.room);
        let others = there.filter(|(publisher, _)| *publisher != receiver);
        let candidates = others.flat_map(|(publisher, publication)| {
            publication.live().map(|(slot, encodings, form)| Candidate {
                participant: publisher.participant.clone(),
                slot,
                encodings: encodings.to_vec(),
                form,
                shown: None,
                rank: 0,
            })
        });
        candidates.collect()
    }

    /// Updates the receptions after the tracks of a room have changed.
    pub(crate) fn refresh_receptions(&mut self, now: Instant, room: &str) {
        self.refresh_recording(now, room);
        let of_room = |c: &Connection| c.participant.room == room && c.reception().is_some();
        let all = self.connections.iter().filter(|(_, c)| of_room(c));
        for resource in all.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            self.refresh_reception(now, &resource);
        }
    }

    /// Records whether a publisher shares its screens: the cameras that its offer marks
    /// as presentations (RFC 4796). Other connections are ignored.
    pub fn share_screen(&mut self, now: Instant, resource: &ResourceId, shared: bool) {
        self.now = now;
        let Some(connection) = self.connections.get_mut(resource) else {
            return;
        };
        let Role::Publish(Sender { screen, .. }) = &mut connection.role else {
            return;
        };
        *screen = shared;
        let publisher = connection.participant.clone();
        let key = connection.peer();
        if let (Some(publication), Some(key)) = (self.publications.get_mut(&publisher), key) {
            publication.share_screen(key, shared);
            self.announce(&publisher);
            self.refresh_receptions(now, &publisher.room);
        }
    }

    /// Reports paused and resumed cameras to those who receive a room.
    pub(crate) fn tell_paused(&mut self) {
        for (resource, connection) in &mut self.connections {
            let key = connection.reception().map(|(key, _)| key);
            let (Role::Receive(reception), Some(key)) = (&mut connection.role, key) else {
                continue;
            };
            if reception.set_paused(&self.traffic.paused(key).collect()) {
                tell_lines(&mut self.events, resource, reception);
            }
        }
    }

    /// Assigns a line to each track that a participant wants, and offers more lines if
    /// there are too few.
    pub(crate) fn refresh_reception(&mut self, now: Instant, resource: &ResourceId) {
        let Some(connection) = self.connections.get(resource) else {
            return;
        };
        let candidates = self.candidates(&connection.participant);
        let Some(connection) = self.connections.get_mut(resource) else {
            return;
        };
        let key = connection.reception().map(|(key, _)| key);
        let (Role::Receive(reception), Some(key)) = (&mut connection.role, key) else {
            return;
        };
        let assignment = reception.assign(&candidates);
        tell_lines(&mut self.events, resource, reception);
        let mut encodings = Vec::new();
        for (stream, carried) in assignment.changed {
            encodings.extend(&carried.encodings);
            self.traffic
                .carry(now, &mut self.peers, (key, stream), carried);
        }
        self.resume_wanted(now, &encodings);
        if assignment.sections.is_empty() {
            return;
        }
        let offer = self
            .peers
            .drive(key, |peer| peer.offer(&assignment.sections));
        if let Some(Ok(sdp)) = offer {
            let resource = resource.clone();
            self.events.push_back(Event::Offered { resource, sdp });
        }
    }
}

/// Reports the lines of a reception to its participant, if they have changed.
fn tell_lines(events: &mut VecDeque<Event>, resource: &ResourceId, reception: &mut Reception) {
    if let Some(lines) = reception.news() {
        let resource = resource.clone();
        events.push_back(Event::LinesChanged { resource, lines });
    }
}
