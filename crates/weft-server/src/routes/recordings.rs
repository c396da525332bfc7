//! Recordings: moderators start and stop them, list them, and fetch their files.

use super::talk::Sender;
use super::{App, RoomName, answer};
use crate::problem::Problem;
use crate::recorder::{Recorder, open};
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, put};
use axum::{Json, Router};
use futures_core::Stream;
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::{self, Read};
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

async fn fetch(
    State(app): State<App>,
    Path(wanted): Path<Wanted>,
    uri: Uri,
) -> Result<Response, Problem> {
    app.hub.check_records()?;
    check_gate(&app)?;
    let room = Some(wanted.room.0);
    file(&app, room, (wanted.recording, wanted.file), uri.path()).await
}

/// Sends a file of a recording, of any room if `room` is `None`. The path is that of the
/// request.
pub(super) async fn file(
    app: &App,
    room: Option<String>,
    (id, name): (String, String),
    path: &str,
) -> Result<Response, Problem> {
    let folder = app.hub.media().recorder().map(Recorder::folder);
    let opened = match folder.map(std::path::Path::to_owned) {
        Some(folder) => {
            let (room, id, wanted) = (room.clone(), id.clone(), name.clone());
            let look = move || open(&folder, room.as_deref(), (&id, &wanted));
            let opened = tokio::task::spawn_blocking(look).await;
            let opened = opened.map_err(|_| Problem::overloaded("this request"))?;
            opened.map_err(unreadable)?
        }
        None => None,
    };
    let Some((file, length)) = opened else {
        return Err(elsewhere(app, room, &id, path).await);
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

/// Says which server of the cluster has a recording that this one has not.
async fn elsewhere(app: &App, room: Option<String>, id: &str, path: &str) -> Problem {
    let (all, missing) = match app.hub.recordings(room).await {
        Ok(found) => found,
        Err(error) => return unreadable(error),
    };
    let own = app.hub.server_name();
    let found = all.iter().find(|recording| recording["id"] == id);
    match found.and_then(|found| Some((found["server"].as_str()?, found["url"].as_str()))) {
        Some((server, url)) if own.as_deref() != Some(server) => Problem::new(
            StatusCode::NOT_FOUND,
            format!("The server {server} has this recording."),
            match url {
                Some(url) => format!("Fetch {url}{path} with your token for that server."),
                None => "Ask for it there: give that server a --public-url.".to_owned(),
            },
        )
        .of_kind("recording_elsewhere"),
        None if !missing.is_empty() => Problem::new(
            StatusCode::NOT_FOUND,
            format!(
                "This server has no such recording; no answer from {}.",
                missing.join(", ")
            ),
            "Ask again when that server runs, or look at its disk.",
        ),
        _ => Problem::new(
            StatusCode::NOT_FOUND,
            "There is no such recording, or it has no such file.",
            "List the recordings of the room: `server` and `url` say where each is.",
        ),
    }
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
