//! Recordings: moderators start and stop them, list them, and fetch their files.

use super::talk::Sender;
use super::{App, RoomName, answer};
use crate::problem::Problem;
use crate::recorder::open;
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
use std::io::{self, Read};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::mpsc;

/// Number of octets of a file that are read at once, and number of pieces that are read
/// ahead of the client.
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
        // Runs to its end, even if the client does not wait.
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
    app.hub.check_records()?;
    check_gate(&app)?;
    Ok(Json(listed(&app, Some(room)).await?))
}

/// Lists the recordings of a room, or of all, on all servers of the cluster.
pub(super) async fn listed(app: &App, room: Option<String>) -> Result<Value, Problem> {
    let (recordings, missing) = app.hub.recordings(room).await.map_err(unreadable)?;
    let mut list = json!({ "recordings": recordings });
    if !missing.is_empty() {
        list["missing"] = json!(missing);
    }
    Ok(list)
}

#[derive(Deserialize)]
struct Wanted {
    room: RoomName,
    recording: String,
    file: String,
}

async fn fetch(State(app): State<App>, Path(wanted): Path<Wanted>) -> Result<Response, Problem> {
    let folder = app.hub.recorder()?.folder().to_owned();
    check_gate(&app)?;
    let room = Some(wanted.room.0);
    file(folder, room, (wanted.recording, wanted.file)).await
}

/// Sends a file of a recording, of any room if `room` is `None`.
pub(super) async fn file(
    folder: PathBuf,
    room: Option<String>,
    (id, name): (String, String),
) -> Result<Response, Problem> {
    let wanted = name.clone();
    let look = move || open(&folder, room.as_deref(), (&id, &wanted));
    let opened = tokio::task::spawn_blocking(look).await;
    let opened = opened.map_err(|_| Problem::overloaded("this request"))?;
    let Some((file, length)) = opened.map_err(unreadable)? else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "This server has no such recording.",
            "List the recordings of the room: `server` and `url` say where each is.",
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

/// Checks that the server requires tokens. A server without tokens never shows its
/// recordings, because everybody may moderate there.
fn check_gate(app: &App) -> Result<(), Problem> {
    match app.gate.is_open() {
        false => Ok(()),
        true => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "A server without a token gives its recordings to nobody.",
            "Take them from its disk, or start it with --token or --token-key.",
        )
        .of_kind("recordings_need_a_token")),
    }
}

fn unreadable(error: io::Error) -> Problem {
    Problem::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        format!("The server cannot read its recordings: {error}."),
        "Ask its operator to look at the folder of --recordings.",
    )
}

/// Reads a file as fast as the client receives it.
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
