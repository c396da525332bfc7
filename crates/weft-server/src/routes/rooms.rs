use super::{App, RoomName};
use crate::hub::{Arrival, Hub, Message};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::secret::secret_of;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use futures_core::Stream;
use serde::Deserialize;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;
use weft_rooms::ParticipantKind;

/// Silence after which a comment is sent, so that proxies and the page know
/// that the stream is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Header with the id of the last event that the client has read (WHATWG HTML,
/// section 9.2.3).
const LAST_EVENT_ID: &str = "last-event-id";

pub(super) fn routes() -> Router<App> {
    Router::new().route("/api/rooms/{room}/events", get(events).delete(part))
}

#[derive(Deserialize)]
struct Who {
    name: String,
    id: Option<String>,
    kind: Option<ParticipantKind>,
}

async fn events(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
    who: Result<Query<Who>, QueryRejection>,
    Extension(origin): Extension<Origin>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let Query(who) = who.map_err(|_| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The request does not name the participant.",
            "Give a name with ?name=; the kind is browser, native or whip.",
        )
    })?;
    let read = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let arrival = Arrival {
        room: &room,
        name: Some(&who.name),
        kind: who.kind.unwrap_or(ParticipantKind::Browser),
        id: who.id.as_deref(),
        secret: secret_of(&headers),
        origin: &origin,
    };
    let (id, messages) = app.hub.join(arrival, read)?;
    let stream = Presence {
        hub: Arc::clone(&app.hub),
        room,
        id,
        messages,
    };
    let sse = Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    // Proxies that buffer responses would delay the events.
    let headers = [
        (CACHE_CONTROL.as_str(), "no-store"),
        ("x-accel-buffering", "no"),
    ];
    Ok((headers, sse).into_response())
}

#[derive(Deserialize)]
struct Whom {
    id: String,
}

/// Departure of a page that is being left.
async fn part(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
    whom: Result<Query<Whom>, QueryRejection>,
    headers: HeaderMap,
) -> Result<StatusCode, Problem> {
    let Query(whom) = whom.map_err(|_| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The request does not name the participant who leaves.",
            "Give their id with ?id=.",
        )
    })?;
    app.hub.part(&room, &whom.id, secret_of(&headers))?;
    Ok(StatusCode::NO_CONTENT)
}

/// Event stream of a room; while it lives, its participant is present.
struct Presence {
    hub: Arc<Hub>,
    room: String,
    id: String,
    messages: mpsc::Receiver<Message>,
}

impl Stream for Presence {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let event = |m: Message| {
            let event = Event::default().event(m.event).data(&*m.data);
            m.id.map_or(event.clone(), |id| event.id(&*id))
        };
        let message = self.messages.poll_recv(cx);
        message.map(|message| message.map(|m| Ok(event(m))))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.hub.leave(&self.room, &self.id);
    }
}
