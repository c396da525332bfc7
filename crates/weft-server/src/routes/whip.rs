//! WHIP (RFC 9725): publish by one HTTP request.

use super::existing::Publication;
use super::{
    App, Body, Pending, RoomName, SDP, accepts_sdp, ask, created, escaped, json_body, text_body,
};
use crate::auth::secret_of;
use crate::hub::{Arrival, Enabled};
use crate::media_plane::Command;
use crate::problem::Problem;
use axum::Router;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{delete, post, put};
use serde::Deserialize;
use weft_sfu::{LinkReport, ParticipantKind};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route(
            "/whip/{room}",
            post(publish).options(async || accepts_sdp()),
        )
        .route("/whip/{room}/{resource}", delete(end).patch(trickle))
        .route("/whip/{room}/{resource}/links", put(links))
        .route("/whip/{room}/{resource}/publishing", put(publishing))
}

#[derive(Deserialize)]
struct Who {
    participant: Option<String>,
    name: Option<String>,
    kind: Option<ParticipantKind>,
}

async fn publish(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
    who: Result<Query<Who>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let Query(who) = who.map_err(|_| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The room does not know who publishes.",
            "Give ?name=, or ?participant= with the id that the room's event stream gave you.",
        )
    })?;
    let offer = text_body(&headers, body, SDP)?;
    // Clients like OBS know an address only: they are called what they are.
    let name = who.name.as_deref().or(match who.participant {
        Some(_) => None,
        None => Some("WHIP"),
    });
    let (resource, participant) = app.hub.open_publication(&Arrival {
        room: &room,
        name,
        kind: who.kind.unwrap_or(ParticipantKind::Whip),
        id: who.participant.as_deref(),
        secret: secret_of(&headers),
    })?;
    let pending = Pending::new(&app.hub, resource.clone());
    let location = format!("/whip/{}/{}", escaped(&room), resource.0);
    let agreed = ask(&app.hub, |reply| Command::Publish {
        resource: resource.clone(),
        room,
        participant,
        offer,
        reply,
    })
    .await?;
    app.hub.negotiated(&resource, &agreed);
    pending.done();
    Ok(created(&location, agreed.sdp))
}

async fn end(Publication(publication): Publication) -> StatusCode {
    publication.end()
}

async fn trickle(
    Publication(publication): Publication,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    publication.trickle(&headers, body).await
}

async fn links(
    Publication(publication): Publication,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let links: Vec<LinkReport> = json_body(&headers, body)?;
    publication.hub.set_links(&publication.resource, links)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The publisher switched its camera or microphone off or on.
async fn publishing(
    Publication(publication): Publication,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let wanted: Enabled = json_body(&headers, body)?;
    publication.hub.set_enabled(&publication.resource, wanted);
    Ok(StatusCode::NO_CONTENT)
}
