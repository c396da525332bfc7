//! Rooms that this server, or another one of its cluster, records.
//!
//! All servers know the recorder of each room (`weft_rooms::Recorder`) and agree on it,
//! even if several change it at the same time. A server that becomes the recorder starts
//! recording; one that finds another recorder stops.

use super::Hub;
use super::cluster::ClusterEvent;
use super::state::{AdmissionState, State, message};
use super::vacancies::Vacancies;
use crate::log::ServerEvent;
use serde_json::json;
use std::collections::BTreeSet;
use tokio::sync::oneshot;
use weft_rooms::Change;

impl Hub {
    /// Whether this server can record.
    pub(super) fn can_record(&self, state: &State) -> bool {
        self.media.recorder().is_some() && state.admission == AdmissionState::Open
    }

    /// Returns the best server to record a room: one with participants of the room, the
    /// first by name, so that all servers choose the same one.
    pub(super) fn best_recorder(&self, state: &State, room: &str) -> Option<String> {
        let own = self.own_name();
        let here = self.can_record(state).then(|| own.to_owned());
        let others = self.vacancies().map(Vacancies::recorders);
        let elsewhere = state.registry.elsewhere(room).map(|(_, node)| node);
        let mut have_room: BTreeSet<&str> = elsewhere.collect();
        if state.registry.is_here(room) {
            have_room.insert(own);
        }
        let all = here.into_iter().chain(others.unwrap_or_default());
        all.min_by_key(|node| (!have_room.contains(&**node), node.clone()))
    }

    /// Makes a server the recorder of a room, or ends the recording, and informs all servers.
    pub(super) fn set_recorder(&self, state: &mut State, room: &str, server: Option<&str>) {
        if state.registry.recorder(room) == server {
            return;
        }
        let recorder = state.registry.set_recorder(room, self.own_name(), server);
        let room = room.to_owned();
        self.tell(|| ClusterEvent::Recorder { room, recorder });
    }

    /// Starts or ends the recording of a room here, after its recorder has changed.
    pub(super) fn follow_recorder(&self, state: &mut State, room: &str) {
        let own = self.own_name();
        let recorder = state.registry.recorder(room);
        let is_ours = recorder == Some(own);
        match (is_ours, state.recorded.contains(room)) {
            (true, false) if self.can_record(state) => self.begin_recording(state, room),
            (true, false) => {
                let other = self.best_recorder(state, room);
                self.set_recorder(state, room, other.as_deref());
                if other.is_none() {
                    let error = "No server that records takes this recording.";
                    self.tell_of_error(state, room, error.to_owned());
                }
            }
            // It ends after an overlap.
            (false, true) if recorder.is_some() && state.admission == AdmissionState::Draining => {}
            (false, true) => {
                let is_elsewhere = recorder.is_some();
                self.end_recording(state, room, is_elsewhere);
            }
            (true, true) | (false, false) => {}
        }
    }

    fn begin_recording(&self, state: &mut State, room: &str) {
        if let Some(recorder) = self.media.recorder() {
            state.recorded.insert(room.to_owned());
            recorder.begin(room, names(state, room));
        }
    }

    /// Ends the recording of a room here; `is_elsewhere` if another server records it.
    /// The answer arrives when the files are complete; `None` without a recording.
    pub(super) fn end_recording(
        &self,
        state: &mut State,
        room: &str,
        is_elsewhere: bool,
    ) -> Option<oneshot::Receiver<()>> {
        if !state.recorded.remove(room) {
            return None;
        }
        self.media.set_recorded(room, false);
        let recorder = self.media.recorder();
        let stopped = match is_elsewhere {
            true => {
                recorder.inspect(|recorder| recorder.yield_room(room));
                None
            }
            false => recorder.map(|recorder| recorder.stop(room)),
        };
        if state.registry.recorder(room) == Some(self.own_name()) {
            self.set_recorder(state, room, None);
        }
        self.log.emit(|| ServerEvent::RecordingStopped {
            room: room.to_owned(),
        });
        stopped
    }

    /// Reports the participants of a recorded room to the recorder; the recording ends
    /// with the room.
    pub(super) fn follow_recorded(&self, state: &mut State, room: &str, change: &Change) {
        if !state.recorded.contains(room) {
            return;
        }
        match change {
            Change::Joined(who) | Change::Changed(who) => {
                if let Some(recorder) = self.media.recorder() {
                    recorder.set_name(room, &who.id, &who.name);
                }
                // Their server may have learned of the recording before it knew the room.
                if matches!(change, Change::Joined(_))
                    && let Some(recorder) = state.registry.recorder_of(room)
                {
                    let (room, recorder) = (room.to_owned(), recorder.clone());
                    self.tell(|| ClusterEvent::Recorder { room, recorder });
                }
            }
            Change::Left { .. } | Change::Withdrawn { .. }
                if !state.registry.rooms().any(|other| other == room) =>
            {
                self.end_recording(state, room, false);
            }
            _ => {}
        }
    }

    /// Informs the moderators of a room, on all servers, about its recording.
    pub(super) fn tell_of_error(&self, state: &mut State, room: &str, error: String) {
        notify_of_recording(state, room, &error);
        let room = room.to_owned();
        self.tell(|| ClusterEvent::RecordingError { room, error });
    }
}

/// Ids and names of the participants of a room.
pub(super) fn names(state: &State, room: &str) -> Vec<(String, String)> {
    let there = state.registry.participants(room).into_iter();
    there
        .map(|who| (who.id.clone(), who.name.clone()))
        .collect()
}

/// Informs the moderators of a room on this server about its recording.
pub(super) fn notify_of_recording(state: &mut State, room: &str, error: &str) {
    state.notify_moderators_of(room, &message("recording", &json!({ "error": error })));
}
