//! Server of a cluster that records a room. All servers know it, so that only one of them
//! records, any can end the recording, and everybody inside is informed.

use crate::{Recorder, Registry, RoomSettings};

/// Maximum version that is accepted from another server: no room changes so often, and no
/// change could be later than the highest number.
const MOST: u64 = u64::MAX / 2;

impl Registry {
    /// Returns the server that records a room.
    #[must_use]
    pub fn recorder(&self, room: &str) -> Option<&str> {
        self.rooms.get(room)?.recorder.server.as_deref()
    }

    /// Returns the recorder of a room, with its version.
    #[must_use]
    pub fn recorder_of(&self, room: &str) -> Option<&Recorder> {
        Some(&self.rooms.get(room)?.recorder)
    }

    /// Changes the server that records a room on behalf of the server `by`, and informs
    /// everybody inside. Returns the value for the other servers.
    pub fn set_recorder(&mut self, room: &str, by: &str, server: Option<&str>) -> Recorder {
        let Some(found) = self.rooms.get_mut(room) else {
            return Recorder::default();
        };
        let recorder = Recorder {
            server: server.map(str::to_owned),
            version: (found.recorder.version.0 + 1, by.to_owned()),
        };
        self.take_recorder(room, recorder.clone());
        recorder
    }

    /// Accepts the recorder of a room from another server, unless a later value is known;
    /// returns whether it was accepted.
    pub fn take_recorder(&mut self, room: &str, recorder: Recorder) -> bool {
        let found = self.rooms.get_mut(room);
        let is_later =
            |found: &Recorder| recorder.version > found.version && recorder.version.0 <= MOST;
        let Some(found) = found.filter(|found| is_later(&found.recorder)) else {
            return false;
        };
        let settings = RoomSettings {
            recorded: recorder.server.is_some(),
            ..found.settings
        };
        found.recorder = recorder;
        self.set_settings(room, settings);
        true
    }
}

#[cfg(test)]
mod tests;
