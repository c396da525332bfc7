//! Interface for the operator's programs: `weft rooms` over HTTP.

use super::{App, Body, RoomName, json_body, recordings, refused};
use crate::admin::{Admin, Answer, Order};
use crate::origin::{Peer, address_of};
use crate::problem::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{ConnectInfo, Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

/// Seconds for which a removed participant is kept out, as in `weft rooms`.
const BARRED: u64 = 600;

pub(super) fn routes(app: App) -> Router<App> {
    let room = "/api/admin/rooms/{room}";
    let participant = format!("{room}/participants/{{participant}}");
    Router::new()
        .route("/api/admin/rooms", get(list))
        .route(room, get(show))
        .route(&format!("{room}/closure"), put(close).delete(open))
        .route(&participant, delete(remove))
        .route(&format!("{participant}/mute"), put(mute))
        .route("/api/admin/revocations", post(revoke))
        .route("/api/admin/recordings", get(list_recordings))
        .route(
            "/api/admin/recordings/{recording}/{file}",
            get(fetch_recording),
        )
        .route_layer(middleware::from_fn_with_state(app, check))
}

/// Admits requests with the admin token. The connection counts as admitted from
/// then on.
async fn check(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let headers = request.headers();
    let asker = (app.hub.now(), address_of(&peer, headers));
    match app.admin.check(asker, headers).await {
        Ok(()) => {
            peer.known.set();
            next.run(request).await
        }
        Err(problem) => refused(problem),
    }
}

#[derive(Deserialize)]
struct Place {
    room: RoomName,
    participant: String,
}

#[derive(Deserialize)]
struct Bar {
    seconds: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Closure {
    seconds: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Revocation {
    token: String,
}

impl App {
    fn carry_out(&self, order: Order) -> Result<Answer, Problem> {
        let (hub, gate) = (self.hub.clone(), self.gate.clone());
        Admin { hub, gate }.carry_out(order)
    }
}

/// Content of an answer.
fn body(answer: &Answer) -> Json<Value> {
    let tagged = serde_json::to_value(answer).unwrap_or_default();
    let content = tagged.as_object().and_then(|tagged| tagged.values().next());
    Json(content.cloned().unwrap_or_default())
}

async fn list(State(app): State<App>) -> Json<Value> {
    Json(json!({ "rooms": app.hub.report() }))
}

async fn show(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
) -> Result<Json<Value>, Problem> {
    let mut rooms = app.hub.report().into_iter();
    let found = rooms.find(|report| report.room == room);
    found.map(|report| Json(json!(report))).ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            format!("Nobody is in the room {room}, and it is not closed."),
            "GET /api/admin/rooms lists the rooms.",
        )
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfRoom {
    room: Option<RoomName>,
}

async fn list_recordings(
    State(app): State<App>,
    wanted: Result<Query<OfRoom>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let Query(OfRoom { room }) = wanted.map_err(|_| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The query is not the name of a room.",
            "Write ?room=ROOM, or nothing for all rooms.",
        )
    })?;
    app.hub.check_records()?;
    let room = room.map(|RoomName(room)| room);
    Ok(Json(recordings::listed(&app, room).await?))
}

async fn fetch_recording(
    State(app): State<App>,
    Path(wanted): Path<(String, String)>,
    uri: Uri,
) -> Result<Response, Problem> {
    app.hub.check_records()?;
    recordings::file(&app, None, wanted, uri.path()).await
}

async fn close(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
    headers: HeaderMap,
    given: Body,
) -> Result<Json<Value>, Problem> {
    let Closure { seconds } = json_body(&headers, given)?;
    let order = Order::Close { room, seconds };
    Ok(body(&app.carry_out(order)?))
}

async fn open(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
) -> Result<StatusCode, Problem> {
    app.carry_out(Order::Open { room })?;
    Ok(StatusCode::NO_CONTENT)
}

async fn remove(
    State(app): State<App>,
    Path(place): Path<Place>,
    bar: Result<Query<Bar>, QueryRejection>,
) -> Result<Json<Value>, Problem> {
    let Query(bar) = bar.map_err(|_| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The time for which the participant stays out is not a number.",
            "Write whole seconds, such as ?seconds=600.",
        )
    })?;
    let order = Order::Remove {
        room: place.room.0,
        participant: place.participant,
        seconds: bar.seconds.unwrap_or(BARRED),
    };
    Ok(body(&app.carry_out(order)?))
}

async fn mute(State(app): State<App>, Path(place): Path<Place>) -> Result<Json<Value>, Problem> {
    let order = Order::Mute {
        room: place.room.0,
        participant: place.participant,
    };
    Ok(body(&app.carry_out(order)?))
}

async fn revoke(
    State(app): State<App>,
    headers: HeaderMap,
    given: Body,
) -> Result<Response, Problem> {
    let Revocation { token } = json_body(&headers, given)?;
    Ok(body(&app.carry_out(Order::Revoke { token })?).into_response())
}
