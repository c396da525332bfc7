//! Recordings of rooms, as moderators start and stop them.

use super::state::message;
use super::{Arrival, Hub, recorded};
use crate::log::ServerEvent;
use crate::problem::Problem;
use crate::recorder::{Recorder, RecordingEvent};
use crate::webhook::WebhookEvent;
use axum::http::StatusCode;
use serde_json::json;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;
use weft_record::{Index, RecorderError};

/// Recording that has been asked for, and the answer of the recorder.
pub(crate) type Starting = oneshot::Receiver<Result<PathBuf, RecorderError>>;

impl Hub {
    /// Returns the recorder.
    pub(crate) fn recorder(&self) -> Result<&Recorder, Problem> {
        self.media.recorder().ok_or_else(|| {
            Problem::new(
                StatusCode::NOT_FOUND,
                "This server records no rooms.",
                "Ask its operator to start it with --recordings FOLDER.",
            )
            .of_kind("no_recordings")
        })
    }

    /// Asks for the recording of a room for a moderator; `None` if it is recorded already.
    /// [`Hub::recording_started`] must follow.
    pub(crate) fn ask_recording(&self, who: &Arrival<'_>) -> Result<Option<Starting>, Problem> {
        let mut state = self.lock();
        let id = self.moderator(&state, who)?;
        let recorder = self.recorder()?;
        state.check_pace(who.room, id, self.clock.now())?;
        if !state.recorded.insert(who.room.to_owned()) {
            return Ok(None);
        }
        let there = state.registry.participants(who.room).into_iter();
        let names = there.map(|who| (who.id.clone(), who.name.clone()));
        Ok(Some(recorder.start(who.room, names.collect())))
    }

    /// Takes the recorder's answer. Everybody in the room is told before the first packet
    /// is recorded.
    pub(crate) fn recording_started(
        &self,
        room: &str,
        started: Result<PathBuf, String>,
    ) -> Result<(), Problem> {
        let mut state = self.lock();
        match started {
            // Everybody may have left meanwhile.
            Ok(_) if !state.recorded.contains(room) => Ok(()),
            Ok(folder) => {
                state.registry.set_recorded(room, true);
                self.publish_changes(&mut state);
                self.media.set_recorded(room, true);
                self.log.emit(|| ServerEvent::RecordingStarted {
                    room: room.to_owned(),
                    folder: folder.display().to_string(),
                });
                Ok(())
            }
            Err(error) => {
                state.recorded.remove(room);
                self.log.emit(|| ServerEvent::RecordingFailed {
                    room: room.to_owned(),
                    error: error.clone(),
                });
                Err(failed(&error))
            }
        }
    }

    /// Ends the recording of a room for a moderator. The answer comes when the files are
    /// complete; `None` without a recording.
    pub(crate) fn stop_recording(
        &self,
        who: &Arrival<'_>,
    ) -> Result<Option<oneshot::Receiver<()>>, Problem> {
        let mut state = self.lock();
        self.moderator(&state, who)?;
        self.recorder()?;
        let stopped = recorded::end(&*self.media, &self.log, &mut state, who.room);
        self.publish_changes(&mut state);
        Ok(stopped)
    }

    /// Handles an event of the recorder: the log and the moderators are told of errors.
    pub(crate) fn handle_recording_event(&self, event: RecordingEvent) {
        if let RecordingEvent::Ready { room, folder } = event {
            return self.tell_of_recording(room, &folder);
        }
        let mut state = self.lock();
        match event {
            RecordingEvent::Ready { .. } => {}
            RecordingEvent::NotRecorded { room, codec } => {
                let codec = codec.encoding();
                let error = format!("Pictures in {codec} are not recorded, only VP8 and H264.");
                let told = json!({ "error": error });
                state.notify_moderators_of(&room, &message("recording", &told));
                self.log.emit(|| ServerEvent::NotRecorded { room, codec });
            }
            RecordingEvent::Failed { room, error } => {
                state.recorded.remove(&room);
                self.media.set_recorded(&room, false);
                state.registry.set_recorded(&room, false);
                self.publish_changes(&mut state);
                let told = json!({ "error": failed(&error).error });
                state.notify_moderators_of(&room, &message("recording", &told));
                self.log
                    .emit(|| ServerEvent::RecordingFailed { room, error });
            }
            RecordingEvent::Slow { room, packets } => {
                let error = "The server's disk is too slow: the recording has gaps.";
                let told = json!({ "error": error });
                state.notify_moderators_of(&room, &message("recording", &told));
                self.log
                    .emit(|| ServerEvent::RecordingSlow { room, packets });
            }
        }
    }
}

impl Hub {
    /// Sends the webhook of a recording whose files are complete. Without an index there is
    /// nothing to fetch: the log has the error of the disk.
    fn tell_of_recording(&self, room: String, folder: &Path) {
        let Some(webhooks) = self.webhooks() else {
            return;
        };
        if let Ok(index) = Index::read(folder) {
            let id = folder.file_name().unwrap_or_default();
            webhooks.send(WebhookEvent::RecordingReady {
                room,
                id: id.to_string_lossy().into_owned(),
                length_ms: index.length_ms,
                error: index.error.map(|error| failed(&error).error),
                tracks: index.tracks,
            });
        }
    }
}

impl Hub {
    /// Takes the result of composing a recording: the name of its film, or the reason why
    /// there is none.
    pub(crate) fn recording_composed(
        &self,
        room: String,
        folder: &Path,
        composed: Result<String, String>,
    ) {
        self.log.emit(|| {
            let film = composed.as_ref().ok();
            ServerEvent::RecordingComposed {
                room: room.clone(),
                film: film.map(|film| folder.join(film).display().to_string()),
                error: composed.as_ref().err().cloned(),
            }
        });
        if let Some(webhooks) = self.webhooks() {
            let id = folder.file_name().unwrap_or_default();
            let refused = "the server's log has the reason".to_owned();
            webhooks.send(WebhookEvent::RecordingComposed {
                room,
                id: id.to_string_lossy().into_owned(),
                error: composed.is_err().then_some(refused),
                film: composed.ok(),
            });
        }
    }
}

/// Error of a recording for a moderator, without the paths of the server.
fn failed(error: &str) -> Problem {
    let reason = error.rsplit("`: ").next().unwrap_or(error);
    let reason = reason.split(';').next().unwrap_or(reason);
    Problem::new(
        StatusCode::INSUFFICIENT_STORAGE,
        format!("The recording has stopped: {reason}. What was recorded is kept."),
        "Ask the server's operator for room on its disk, and start it again.",
    )
    .of_kind("recording_failed")
}
