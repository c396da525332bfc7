//! WHIP (RFC 9725): publish by one HTTP request.

use super::{
    App, FRAGMENT, Pending, SDP, accepts_sdp, ask, created, json_body, segment, text_body,
};
use crate::hub::{Publisher, RoleOf};
use crate::media_plane::{Command, ResourceId};
use crate::problem::Problem;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{delete, post, put};
use serde::Deserialize;
use weft_sfu::{LinkReport, ParticipantKind, Publishing};

type Body = Result<Bytes, BytesRejection>;

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
    Path(room): Path<String>,
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
    let (resource, participant) = app.hub.open_publication(&Publisher {
        room: &room,
        participant: who.participant.as_deref(),
        name,
        kind: who.kind.unwrap_or(ParticipantKind::Whip),
    })?;
    let pending = Pending::new(&app.hub, resource.clone());
    let location = format!("/whip/{}/{}", segment(&room), resource.0);
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

async fn end(
    State(app): State<App>,
    Path((room, resource)): Path<(String, String)>,
) -> Result<StatusCode, Problem> {
    let resource = ResourceId(resource);
    app.hub.check(&room, &resource, RoleOf::Publish)?;
    app.hub.close(&resource);
    Ok(StatusCode::OK)
}

async fn trickle(
    State(app): State<App>,
    Path((room, resource)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let resource = ResourceId(resource);
    app.hub.check(&room, &resource, RoleOf::Publish)?;
    let fragment = text_body(&headers, body, FRAGMENT)?;
    ask(&app.hub, |reply| Command::Candidates {
        resource,
        fragment,
        reply,
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn links(
    State(app): State<App>,
    Path((room, resource)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let resource = ResourceId(resource);
    app.hub.check(&room, &resource, RoleOf::Publish)?;
    let links: Vec<LinkReport> = json_body(&headers, body)?;
    app.hub.set_links(&resource, links)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Enabled {
    video: bool,
    audio: bool,
}

/// The publisher switched its camera or microphone off or on.
async fn publishing(
    State(app): State<App>,
    Path((room, resource)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let resource = ResourceId(resource);
    app.hub.check(&room, &resource, RoleOf::Publish)?;
    let Enabled { video, audio } = json_body(&headers, body)?;
    app.hub.set_enabled(&resource, Publishing { video, audio });
    Ok(StatusCode::NO_CONTENT)
}
