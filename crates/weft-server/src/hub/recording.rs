//! Recordings of rooms, which moderators start and stop.

use super::cluster::ClusterNotice;
use super::recorded::names;
use super::{Arrival, Hub};
use crate::log::ServerEvent;
use crate::problem::Problem;
use crate::recorder::{Recorder, RecordingEvent, list};
use crate::webhook::WebhookEvent;
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::io;
use std::path::{Path, PathBuf};
use tokio::sync::oneshot;
use weft_record::{Index, RecorderError};

/// Requested recording, and the answer of the recorder.
pub(crate) type Starting = oneshot::Receiver<Result<PathBuf, RecorderError>>;

impl Hub {
    /// Requests the recording of a room for a moderator; `None` if it is recorded
    /// already, or if another server of the cluster starts it. Otherwise,
    /// [`Hub::recording_started`] must follow.
    pub(crate) fn ask_recording(&self, who: &Arrival<'_>) -> Result<Option<Starting>, Problem> {
        let mut state = self.lock();
        let id = self.moderator(&state, who)?;
        if !state.records {
            return Err(no_recordings());
        }
        state.check_pace(who.room, id, self.clock.now())?;
        if state.registry.recorder(who.room).is_some() || state.recorded.contains(who.room) {
            return Ok(None);
        }
        let recorder = self.media.recorder();
        if let Some(recorder) = recorder.filter(|_| self.can_record(&state)) {
            state.recorded.insert(who.room.to_owned());
            return Ok(Some(recorder.start(who.room, names(&state, who.room))));
        }
        let other = self.best_recorder(&state, who.room);
        // Servers that are draining start none.
        let other = other.ok_or_else(|| Problem::overloaded("a recording"))?;
        self.set_recorder(&mut state, who.room, Some(&other));
        self.publish_changes(&mut state);
        Ok(None)
    }

    /// Handles the recorder's answer. Everybody in the room is informed before the first
    /// packet is recorded.
    pub(crate) fn recording_started(
        &self,
        room: &str,
        started: Result<PathBuf, String>,
    ) -> Result<(), Problem> {
        let mut state = self.lock();
        match started {
            // Everybody may have left in the meantime.
            Ok(_) if !state.recorded.contains(room) => Ok(()),
            Ok(folder) => {
                self.set_recorder(&mut state, room, Some(self.own_name()));
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

    /// Ends the recording of a room for a moderator. The answer arrives when the files
    /// are complete; `None` without a recording.
    pub(crate) fn stop_recording(
        &self,
        who: &Arrival<'_>,
    ) -> Result<Option<oneshot::Receiver<()>>, Problem> {
        let mut state = self.lock();
        self.moderator(&state, who)?;
        if !state.records {
            return Err(no_recordings());
        }
        let stopped = self.end_recording(&mut state, who.room, false);
        // Another server ends it when it receives this change.
        self.set_recorder(&mut state, who.room, None);
        self.publish_changes(&mut state);
        Ok(stopped)
    }

    /// Handles an event of the recorder: errors go to the log and the moderators.
    pub(crate) fn handle_recording_event(&self, event: RecordingEvent) {
        let event = match event {
            RecordingEvent::Ready { room, folder } => {
                return self.tell_of_recording(room, &folder);
            }
            RecordingEvent::Started { room, folder } => {
                // Only an error of the recorder would be reported.
                let _ = self.recording_started(&room, Ok(folder));
                return;
            }
            RecordingEvent::Flushed(reply) => {
                let _ = reply.send(());
                return;
            }
            other => other,
        };
        let mut state = self.lock();
        match event {
            RecordingEvent::Ready { .. }
            | RecordingEvent::Started { .. }
            | RecordingEvent::Flushed(_) => {}
            RecordingEvent::NotRecorded { room, codec } => {
                let codec = codec.encoding();
                let error = format!("Pictures in {codec} are not recorded, only VP8 and H264.");
                self.tell_of_error(&mut state, &room, error);
                self.log.emit(|| ServerEvent::NotRecorded { room, codec });
            }
            RecordingEvent::Failed { room, error } => {
                state.recorded.remove(&room);
                self.media.set_recorded(&room, false);
                if state.registry.recorder(&room) == Some(self.own_name()) {
                    self.set_recorder(&mut state, &room, None);
                }
                self.publish_changes(&mut state);
                self.tell_of_error(&mut state, &room, failed(&error).error);
                self.log
                    .emit(|| ServerEvent::RecordingFailed { room, error });
            }
            RecordingEvent::Slow { room, packets } => {
                let error = "The server's disk is too slow: the recording has gaps.";
                self.tell_of_error(&mut state, &room, error.to_owned());
                self.log
                    .emit(|| ServerEvent::RecordingSlow { room, packets });
            }
        }
    }
}

impl Hub {
    /// Checks that this server or another one of its cluster can record.
    pub(crate) fn check_records(&self) -> Result<(), Problem> {
        let records = self.lock().records;
        records.then_some(()).ok_or_else(no_recordings)
    }

    /// Returns the recordings of a room, or of all, with the name and address of their
    /// server if it is in a cluster; and the names of the servers that do not answer.
    pub(crate) async fn recordings(
        &self,
        room: Option<String>,
    ) -> io::Result<(Vec<Value>, Vec<String>)> {
        let folder = self.media.recorder().map(Recorder::folder);
        let own = match folder.map(Path::to_owned) {
            Some(folder) => {
                let of_room = room.clone();
                let read = move || list(&folder, of_room.as_deref());
                tokio::task::spawn_blocking(read).await??
            }
            None => Vec::new(),
        };
        let listed = |(id, index)| json!({ "id": id, "index": index });
        let mut all: Vec<Value> = own.into_iter().map(listed).collect();
        let Some(cluster) = self.cluster() else {
            return Ok((all, Vec::new()));
        };
        for recording in &mut all {
            recording["server"] = self.own_name().into();
        }
        let (reply, answer) = oneshot::channel();
        cluster.notice(ClusterNotice::Recordings(room, reply));
        let mut missing = Vec::new();
        for (server, recordings) in answer.await.unwrap_or_default() {
            let Some(recordings) = recordings else {
                missing.push(server);
                continue;
            };
            let url = cluster.vacancies.url_of(&server);
            for mut recording in recordings {
                recording["server"] = server.as_str().into();
                if let Some(url) = &url {
                    recording["url"] = url.as_str().into();
                }
                all.push(recording);
            }
        }
        let id = |recording: &Value| recording["id"].as_str().map(str::to_owned);
        all.sort_by_key(id);
        Ok((all, missing))
    }

    /// Sends the webhook of a recording whose files are complete. Without an index there
    /// is nothing to fetch: the log has the error of the disk.
    fn tell_of_recording(&self, room: String, folder: &Path) {
        let Some(webhooks) = self.webhooks() else {
            return;
        };
        if let Ok(index) = Index::read(folder) {
            let id = folder.file_name().unwrap_or_default();
            webhooks.send(WebhookEvent::RecordingReady {
                room,
                id: id.to_string_lossy().into_owned(),
                server: self.server_name(),
                length_ms: index.length_ms,
                error: index.error.map(|error| failed(&error).error),
                tracks: index.tracks,
            });
        }
    }
}

impl Hub {
    /// Handles the result of composing a recording: the name of its film, or the reason
    /// why there is none.
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
                server: self.server_name(),
                error: composed.is_err().then_some(refused),
                film: composed.ok(),
            });
        }
    }
}

fn no_recordings() -> Problem {
    Problem::new(
        StatusCode::NOT_FOUND,
        "This server records no rooms.",
        "Ask its operator to start it with --recordings FOLDER.",
    )
    .of_kind("no_recordings")
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
