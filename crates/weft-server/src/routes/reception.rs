//! Connection that carries a whole room to a participant. The server makes an offer at
//! the start and whenever more lines are needed. The room's event stream carries later
//! offers, and says which track is on which line.

use super::existing::Reception;
use super::{
    App, Body, FRAGMENT, Pending, RoomName, SDP, Who, ask, created, escaped, is_type, json_body,
    text_body,
};
use crate::hub::described;
use crate::media_plane::{Media, View, ViewedCamera};
use crate::origin::Origin;
use crate::problem::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{delete, post, put};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) fn routes() -> Router<App> {
    let resource = "/api/rooms/{room}/reception/{resource}";
    Router::new()
        .route("/api/rooms/{room}/reception", post(receive))
        .route(resource, delete(end).patch(change))
        .route(&format!("{resource}/view"), put(view))
}

async fn receive(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
    who: Result<Query<Who>, QueryRejection>,
    Extension(origin): Extension<Origin>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let who = Who::of(who, "receives")?;
    if who.participant.is_none() {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "The request does not name the participant who receives.",
            "Open the room's event stream first, and give its id with ?participant=.",
        ));
    }
    let receiver = who.arrival(&room, "", &headers, &origin);
    let (resource, participant) = app.hub.open_reception(&receiver)?;
    let pending = Pending::new(&app.hub, resource.clone());
    let location = format!("/api/rooms/{}/reception/{}", escaped(&room), resource.0);
    let id = resource.clone();
    let agreed = ask(&app.hub, &resource, |media| {
        media.receive(id, room, participant)
    })
    .await?;
    app.hub.negotiated(&resource, &agreed)?;
    pending.done();
    Ok(created(&location, agreed))
}

async fn end(Reception(reception): Reception) -> StatusCode {
    reception.end()
}

/// Handles the answer to an offer of ours, or candidates.
async fn change(
    Reception(reception): Reception,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    match is_type(&headers, FRAGMENT) {
        true => reception.trickle(&headers, body).await,
        false => reception.answer(text_body(&headers, body, SDP)?).await,
    }
}

#[derive(Deserialize)]
struct Wanted {
    cameras: Vec<WantedCamera>,
}

#[derive(Deserialize)]
struct WantedCamera {
    participant: String,
    #[serde(default)]
    camera: usize,
    width: u32,
    height: u32,
}

/// Handles the complete list of cameras that the participant shows.
async fn view(
    Reception(reception): Reception,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let wanted: Wanted = json_body(&headers, body)?;
    reception.hub.check_view(&reception.resource)?;
    let cameras = wanted.cameras.into_iter().map(|wanted| ViewedCamera {
        participant: wanted.participant,
        camera: wanted.camera,
        width: wanted.width,
        height: wanted.height,
    });
    let view = View {
        cameras: cameras.collect(),
    };
    let resource = reception.resource.clone();
    let question = move |media: &mut dyn Media| media.set_view(&resource, view);
    let viewing = ask(&reception.hub, &reception.resource, question).await?;
    let mut answer = json!({ "lines": described(&viewing.lines) });
    if let Some(offer) = viewing.offer {
        answer["offer"] = offer.into();
    }
    Ok(Json(answer))
}
