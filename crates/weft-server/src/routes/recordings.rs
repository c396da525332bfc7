//! Recordings: moderators start and stop them, list them, and fetch their files.

use super::talk::Sender;
use super::{App, RoomName, answer};
use crate::problem::Problem;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use axum::{Json, Router};
use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, Read};
use std::path::{self, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;
use weft_record::Index;

/// Octets of a file that are read at once, and how often before the client takes them.
const PIECE: usize = 64 * 1024;
const AHEAD: usize = 4;

pub(super) fn routes() -> Router<App> {
    let of_room = "/api/rooms/{room}/recordings";
    Router::new()
        .route("/api/rooms/{room}/recording", put(start).delete(stop))
        .route(of_room, get(list))
        .route(&format!("{of_room}/{{recording}}/{{file}}"), get(fetch))
}

async fn start(sender: Sender) -> Result<StatusCode, Problem> {
    let hub = Arc::clone(&sender.app().hub);
    if let Some(starting) = hub.ask_recording(&sender.arrival())? {
        let room = sender.arrival().room.to_owned();
        // To its end, also if the client does not wait.
        let started = tokio::spawn(async move {
            let started = match answer(starting).await {
                Ok(started) => started.map_err(|error| error.to_string()),
                Err(problem) => Err(problem.error),
            };
            hub.recording_started(&room, started)
        });
        let unfinished = |_| Problem::overloaded("this recording");
        started.await.map_err(unfinished)??;
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn stop(sender: Sender) -> Result<StatusCode, Problem> {
    if let Some(stopped) = sender.app().hub.stop_recording(&sender.arrival())? {
        answer(stopped).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

async fn list(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
) -> Result<Json<Value>, Problem> {
    let folder = folder(&app)?;
    let found = blocking(move || recordings(&folder, &room)).await?;
    Ok(Json(json!({ "recordings": found })))
}

#[derive(Deserialize)]
struct Wanted {
    room: RoomName,
    recording: String,
    file: String,
}

async fn fetch(State(app): State<App>, Path(wanted): Path<Wanted>) -> Result<Response, Problem> {
    let folder = folder(&app)?;
    let name = wanted.file.clone();
    let opened = blocking(move || open(&folder, &wanted)).await?;
    let Some((file, length)) = opened else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "This room has no such recording.",
            "List its recordings with GET /api/rooms/ROOM/recordings.",
        ));
    };
    let kind = match name.rsplit('.').next() {
        Some("webm") => "video/webm",
        Some("mp4") => "video/mp4",
        _ => "application/json",
    };
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(kind)),
        (CONTENT_LENGTH, HeaderValue::from(length)),
        (CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    let (sender, pieces) = mpsc::channel(AHEAD);
    tokio::task::spawn_blocking(move || read(file.take(length), &sender));
    Ok((headers, Body::from_stream(Pieces(pieces))).into_response())
}

/// Returns the folder of all recordings. A server without tokens shows them to nobody:
/// everybody may moderate there.
fn folder(app: &App) -> Result<PathBuf, Problem> {
    let folder = app.hub.recorder()?.folder().to_owned();
    match app.gate.is_open() {
        false => Ok(folder),
        true => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "A server without a token gives its recordings to nobody.",
            "Take them from its disk, or start it with --token or --token-key.",
        )
        .of_kind("recordings_need_a_token")),
    }
}

/// Runs a function that reads the disk.
async fn blocking<T: Send + 'static>(
    call: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Problem> {
    let done = tokio::task::spawn_blocking(call).await;
    let done = done.map_err(|_| Problem::overloaded("this request"))?;
    done.map_err(|error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("The server cannot read its recordings: {error}."),
            "Ask its operator to look at the folder of --recordings.",
        )
    })
}

/// Returns the recordings of a room, the oldest first.
fn recordings(folder: &path::Path, room: &str) -> io::Result<Vec<Value>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        // Without an index it is no recording.
        let index = Index::read(&entry.path()).ok().filter(|i| i.room == room);
        if let (Some(index), Ok(id)) = (index, entry.file_name().into_string()) {
            found.push((id, index));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    let shown = found.into_iter();
    Ok(shown
        .map(|(id, index)| json!({ "id": id, "index": index }))
        .collect())
}

/// Opens a file that the index of a recording of the room names, or the index.
fn open(folder: &path::Path, wanted: &Wanted) -> io::Result<Option<(File, u64)>> {
    let mut parts = path::Path::new(&wanted.recording).components();
    let is_name = |part| matches!(part, Some(path::Component::Normal(_)));
    if !is_name(parts.next()) || parts.next().is_some() {
        return Ok(None);
    }
    let folder = folder.join(&wanted.recording);
    let Some(index) = Index::read(&folder)
        .ok()
        .filter(|i| i.room == wanted.room.0)
    else {
        return Ok(None);
    };
    let mut files = index.tracks.iter().map(|track| &track.file);
    let is_named = files.any(|file| *file == wanted.file)
        || index.film.as_ref() == Some(&wanted.file) && wanted.file == Index::FILM;
    if !is_named && wanted.file != Index::FILE {
        return Ok(None);
    }
    let file = File::open(folder.join(&wanted.file))?;
    let length = file.metadata()?.len();
    Ok(Some((file, length)))
}

/// Reads a file as fast as the client takes it.
fn read(mut file: impl Read, sender: &mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let read = file.read(&mut piece);
        let piece = match read {
            Ok(0) => return,
            Ok(length) => {
                piece.truncate(length);
                Ok(Bytes::from(piece))
            }
            Err(error) => Err(error),
        };
        let is_last = piece.is_err();
        if sender.blocking_send(piece).is_err() || is_last {
            return;
        }
    }
}

/// Pieces of a file.
struct Pieces(mpsc::Receiver<io::Result<Bytes>>);

impl Stream for Pieces {
    type Item = io::Result<Bytes>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}
