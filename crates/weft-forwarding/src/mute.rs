//! Muting of participants, and their participation in the choice of the loudest sounds.

use crate::plane::Plane;
use crate::publisher::{Publisher, Slot};
use weft_units::Instant;

/// Whether the sound of a participant is forwarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sound {
    /// Everybody hears it.
    Forwarded,
    /// No participant hears it, over any connection.
    Muted,
}

impl Plane {
    /// Mutes a participant's sound, or forwards it again. It applies to present
    /// and later connections; set [`Sound::Forwarded`] when the participant
    /// leaves.
    pub fn set_sound(&mut self, now: Instant, publisher: &Publisher, sound: Sound) {
        self.now = now;
        match sound {
            Sound::Muted => self.muted.insert(publisher.clone()),
            Sound::Forwarded => self.muted.remove(publisher),
        };
        self.apply_mute(now, publisher);
    }

    /// Adds the participant's sound to the choice of the loudest. Each plane chooses
    /// among all sounds of the room that it receives.
    pub(crate) fn enter_sound(&mut self, publisher: &Publisher) {
        let publication = self.publications.get(publisher);
        let tracks = publication.and_then(|p| p.encodings(Slot::Sound));
        for track in tracks.unwrap_or_default() {
            self.traffic.loudest.enter(&publisher.room, *track);
        }
    }

    /// Applies the mute to the participant's present tracks.
    pub(crate) fn apply_mute(&mut self, now: Instant, publisher: &Publisher) {
        let publication = self.publications.get(publisher);
        let tracks = publication.and_then(|p| p.encodings(Slot::Sound));
        let muted = self.muted.contains(publisher);
        self.traffic
            .set_muted(now, tracks.unwrap_or_default(), muted);
    }
}
