use super::{App, RoomName, elsewhere};
use crate::hub::{Arrival, Hub, Message};
use crate::ice_servers::{IceServers, RENEWAL, client_of, host_of};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::secret::secret_of;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, StatusCode, Uri};
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
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, interval_at};
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
    (uri, headers): (Uri, HeaderMap),
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
    // Scripts of the page cannot follow a redirect to another origin: the page itself is
    // redirected.
    if arrival.kind != ParticipantKind::Browser
        && let Some(redirect) = elsewhere::redirect(&app, &arrival, &uri)
    {
        return Ok(redirect);
    }
    let ice_servers = Issuing {
        servers: app.ice_servers.get(),
        host: host_of(&headers).map(str::to_owned),
        renewal: None,
    };
    let (id, messages) = app.hub.join(arrival, read)?;
    let stream = Presence {
        hub: Arc::clone(&app.hub),
        ice_servers,
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

/// Event stream of a room; its participant is present while it exists.
struct Presence {
    hub: Arc<Hub>,
    ice_servers: Issuing,
    room: String,
    id: String,
    messages: mpsc::Receiver<Message>,
}

/// ICE servers of one participant.
struct Issuing {
    servers: Arc<IceServers>,
    /// Host of the participant's request.
    host: Option<String>,
    /// Times of new credentials; `None` before the welcome.
    renewal: Option<Interval>,
}

impl Presence {
    /// Returns the ICE servers with new credentials for this participant, as
    /// JSON.
    fn ice_servers(&self) -> String {
        let client = client_of(&format!("{}/{}", self.id, self.room));
        let Issuing { servers, host, .. } = &self.ice_servers;
        let servers = servers.issue(&client, host.as_deref(), SystemTime::now());
        // Strings always serialise.
        serde_json::to_string(&servers).unwrap_or_default()
    }

    /// Returns new credentials when those of the welcome are about to expire.
    fn poll_renewal(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        let Some(renewal) = &mut self.ice_servers.renewal else {
            return Poll::Pending;
        };
        renewal.poll_tick(cx).map(|_| {
            let data = self.ice_servers();
            Event::default().event("ice-servers").data(data)
        })
    }

    /// Adds the ICE servers to the welcome: a page starts its connections with it, and
    /// waiting participants are not admitted yet.
    fn event(&mut self, message: &Message) -> Event {
        let event = Event::default().event(message.event);
        let event = match &message.id {
            Some(id) => event.id(&**id),
            None => event,
        };
        if message.event != "welcome" || self.ice_servers.servers.is_empty() {
            return event.data(&*message.data);
        }
        self.ice_servers.renewal = Some(interval_at(Instant::now() + RENEWAL, RENEWAL));
        let rest = message.data.strip_prefix('{').unwrap_or_default();
        event.data(format!("{{\"ice_servers\":{},{rest}", self.ice_servers()))
    }
}

impl Stream for Presence {
    type Item = Result<Event, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(event) = self.poll_renewal(cx) {
            return Poll::Ready(Some(Ok(event)));
        }
        let message = self.messages.poll_recv(cx);
        message.map(|message| message.map(|message| Ok(self.event(&message))))
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        self.hub.leave(&self.room, &self.id);
    }
}
