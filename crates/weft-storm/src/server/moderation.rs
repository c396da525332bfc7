//! Requests of people in a meeting, and of its moderators, as the hub of the product
//! serves them.

use std::net::Ipv4Addr;

use weft_forwarding::{Recorded, ResourceId, Sound, View};
use weft_peer::Entropy;
use weft_rooms::{Join, Joined, ParticipantKind, RoomSettings, Standing};
use weft_units::Instant;

use super::{ROOM, Refusal, Requester, Role, Server, publisher};
use crate::processor::Load;

impl Server {
    /// Joins the room; returns the id of the participant.
    pub fn join(&mut self, now: Instant, name: &str) -> Result<String, Refusal> {
        let newcomer = Requester::plain(Ipv4Addr::UNSPECIFIED.into(), "");
        self.enter(now, name, newcomer, Standing::Host)
    }

    /// Joins the room, or enters its waiting room; returns the id. Anyone who was removed
    /// under the id in the request stays out.
    pub fn enter(
        &mut self,
        now: Instant,
        name: &str,
        who: Requester<'_>,
        standing: Standing,
    ) -> Result<String, Refusal> {
        let was = (!who.id.is_empty()).then_some(who.id);
        if was.is_some_and(|id| self.removed.contains(id)) {
            return Err(Refusal::Room);
        }
        self.opened += 1;
        let fresh_id = format!("participant {:06}", self.opened);
        let joined = self.rooms.join(Join {
            room: ROOM,
            name,
            kind: ParticipantKind::Native,
            standing,
            id: was,
            proof: was.map(|_| who.proof),
            fresh: who.proof,
            fresh_id: &fresh_id,
        });
        let id = joined.map(Joined::into_id).map_err(|_| Refusal::Room)?;
        self.tell_rooms(now);
        Ok(id)
    }

    /// Receives the whole room; returns the resource and our offer.
    pub fn receive_room(
        &mut self,
        now: Instant,
        who: Requester<'_>,
        entropy: &Entropy,
    ) -> Result<(ResourceId, String), Refusal> {
        let inside = self.rooms.check_inside(ROOM, who.id, Some(who.proof));
        inside.map_err(|_| Refusal::Room)?;
        let (resource, at) = self.open(Role::Receive, who.id)?;
        let agreed = self.work(now, Load::Request(who.by), at, |plane| {
            plane.receive(now, resource.clone(), publisher(who.id), entropy)
        });
        self.processor.hand_over(agreed.sdp.capacity());
        Ok((resource, agreed.sdp))
    }

    /// Accepts the answer to an offer of ours; returns whether it is valid.
    pub fn accept(&mut self, now: Instant, resource: &ResourceId, answer: &str) -> bool {
        let at = self.resources.get(resource).map(|r| r.plane);
        at.is_some_and(|at| {
            self.work(now, Load::Timeout, at, |plane| {
                plane.accept(now, resource.clone(), answer).is_ok()
            })
        })
    }

    /// Sets the cameras that a person shows on its screen.
    pub fn set_view(&mut self, now: Instant, resource: &ResourceId, view: View) {
        if let Some(at) = self.resources.get(resource).map(|r| r.plane) {
            self.work(now, Load::Timeout, at, |plane| {
                plane.set_view(now, resource, view).is_ok()
            });
        }
    }

    /// Starts or stops sharing the screen of a publication.
    pub fn share_screen(&mut self, now: Instant, resource: &ResourceId, shared: bool) {
        if let Some(at) = self.resources.get(resource).map(|r| r.plane) {
            self.work(now, Load::Timeout, at, |plane| {
                plane.share_screen(now, resource, shared);
            });
        }
    }

    /// Mutes or unmutes a participant.
    pub fn set_muted(&mut self, now: Instant, id: &str, muted: bool) {
        self.rooms.set_muted(ROOM, id, muted);
        let sound = match muted {
            true => Sound::Muted,
            false => Sound::Forwarded,
        };
        match muted {
            true => self.muted.insert(id.to_owned()),
            false => self.muted.remove(id),
        };
        self.set_sound(now, id, sound);
        self.tell_rooms(now);
    }

    /// Removes a participant permanently.
    pub fn remove(&mut self, now: Instant, id: &str) {
        self.removed.insert(id.to_owned());
        self.rooms.leave(ROOM, id);
        self.tell_rooms(now);
    }

    /// Changes the settings of the room.
    pub fn set_settings(&mut self, now: Instant, change: impl FnOnce(&mut RoomSettings)) {
        let mut settings = self.rooms.settings(ROOM);
        change(&mut settings);
        self.rooms.set_settings(ROOM, settings);
        self.tell_rooms(now);
    }

    /// Admits everybody who waits.
    pub fn admit_all(&mut self, now: Instant) {
        let waiting = self.rooms.waiting(ROOM).into_iter();
        for id in waiting.map(|who| who.id.clone()).collect::<Vec<_>>() {
            self.rooms.admit(ROOM, &id);
        }
        self.tell_rooms(now);
    }

    /// Starts or ends the recording of the room.
    pub fn record(&mut self, now: Instant, recorded: bool) {
        self.is_recording = recorded;
        for at in 0..self.planes.count() {
            self.work(now, Load::Timeout, at, |plane| {
                plane.set_recorded(now, ROOM, recorded);
            });
        }
    }

    /// Returns the messages to the recorder, each with the number of its plane.
    pub fn take_recorded(&mut self) -> Vec<(u64, Recorded)> {
        std::mem::take(&mut self.planes.recorded)
    }

    /// Replaces a plane that has failed: its connections have ended, and the new plane
    /// gets the settings of the rooms.
    pub fn replace_plane(&mut self, now: Instant, at: usize) {
        self.lose_plane(now, at);
        let is_recording = self.is_recording;
        self.work(now, Load::Timeout, at, |plane| {
            plane.set_recorded(now, ROOM, is_recording);
        });
        for id in self.muted.clone() {
            self.work(now, Load::Timeout, at, |plane| {
                plane.set_sound(now, &publisher(&id), Sound::Muted);
            });
        }
    }
}
