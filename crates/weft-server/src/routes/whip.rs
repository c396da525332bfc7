//! WHIP (RFC 9725): publish with one HTTP request.

use super::existing::Publication;
use super::{
    App, Body, Pending, RoomName, SDP, Who, ask, created, elsewhere, escaped, ice_links, json_body,
    options, resource_options, text_body,
};
use crate::media_plane::Publish;
use crate::origin::Origin;
use crate::problem::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post, put};
use axum::{Extension, Router};
use weft_rooms::{Enabled, LinkReport};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/whip/{room}", post(publish).options(options))
        .route(
            "/whip/{room}/{resource}",
            delete(end).patch(trickle).options(resource_options),
        )
        .route("/whip/{room}/{resource}/links", put(links))
        .route("/whip/{room}/{resource}/publishing", put(publishing))
}

async fn publish(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
    who: Result<Query<Who>, QueryRejection>,
    Extension(origin): Extension<Origin>,
    (uri, headers): (Uri, HeaderMap),
    body: Body,
) -> Result<Response, Problem> {
    let who = Who::of(who, "publishes")?;
    let offer = text_body(&headers, body, SDP)?;
    let publisher = who.arrival(&room, "WHIP", &headers, &origin);
    if let Some(redirect) = elsewhere::redirect(&app, &publisher, &uri) {
        return Ok(redirect);
    }
    let (resource, participant) = app.hub.open_publication(&publisher)?;
    let pending = Pending::new(&app.hub, resource.clone());
    let location = format!("/whip/{}/{}", escaped(&room), resource.0);
    let publish = Publish {
        resource: resource.clone(),
        room,
        participant,
        offer,
    };
    let agreed = ask(&app.hub, &resource, |media| media.publish(publish)).await?;
    app.hub.negotiated(&resource, &agreed)?;
    pending.done();
    let links = ice_links(&app, &resource, &headers);
    Ok((links, created(&location, agreed)).into_response())
}

async fn end(Publication(publication): Publication) -> StatusCode {
    publication.end()
}

async fn trickle(
    Publication(publication): Publication,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
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

/// Switches the publisher's cameras or microphone off or on.
async fn publishing(
    Publication(publication): Publication,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let wanted: Enabled = json_body(&headers, body)?;
    publication.hub.set_enabled(&publication.resource, wanted)?;
    Ok(StatusCode::NO_CONTENT)
}
