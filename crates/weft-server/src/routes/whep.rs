//! WHEP (draft-ietf-wish-whep-03): playing takes one HTTP request with an offer, or two
//! if the server makes the offer.

use super::existing::Playback;
use super::{
    App, Body, FRAGMENT, Pending, RoomName, SDP, Who, ask, body_of, created, elsewhere, escaped,
    ice_links, is_type, options, resource_options, text_body,
};
use crate::hub::Hub;
use crate::media_plane::{MediaError, Negotiated, Play};
use crate::origin::Origin;
use crate::problem::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, post};
use axum::{Extension, Router};
use std::time::{Duration, Instant};

/// Time limit for a publication to arrive from another server. Chosen by us.
const ARRIVAL: Duration = Duration::from_secs(5);
const LOOK: Duration = Duration::from_millis(50);

pub(super) fn routes() -> Router<App> {
    let resource = "/whep/{room}/{participant}/{resource}";
    Router::new()
        .route("/whep/{room}/{participant}", post(play).options(options))
        .route(
            resource,
            delete(end).patch(change).options(resource_options),
        )
}

async fn play(
    State(app): State<App>,
    Path((RoomName(room), participant)): Path<(RoomName, String)>,
    who: Result<Query<Who>, QueryRejection>,
    Extension(origin): Extension<Origin>,
    (uri, headers): (Uri, HeaderMap),
    body: Body,
) -> Result<Response, Problem> {
    let who = Who::of(who, "plays")?;
    let body = body_of(body)?;
    let offer = match body.is_empty() {
        true => None,
        false => Some(text_body(&headers, Ok(body), SDP)?),
    };
    let viewer = who.arrival(&room, "WHEP", &headers, &origin);
    if let Some(redirect) = elsewhere::redirect(&app, &viewer, &uri) {
        return Ok(redirect);
    }
    let (resource, publisher) = app.hub.open_playback(&viewer, &participant)?;
    let pending = Pending::new(&app.hub, resource.clone());
    let location = format!(
        "/whep/{}/{}/{}",
        escaped(&room),
        escaped(&participant),
        resource.0
    );
    let play = Play {
        resource: resource.clone(),
        room,
        publisher,
        offer,
    };
    let agreed = start(&app.hub, play).await?;
    app.hub.negotiated(&resource, &agreed)?;
    pending.done();
    let links = ice_links(&app, &resource, &headers);
    Ok((links, created(&location, agreed)).into_response())
}

/// Starts a playback. A publication of another server is pulled for its first viewer, who
/// waits for it.
async fn start(hub: &Hub, play: Play) -> Result<Negotiated, Problem> {
    let resource = play.resource.clone();
    let asks = || {
        let play = play.clone();
        ask(hub, &resource, |media| media.play(play))
    };
    if !hub.is_elsewhere(&play.room, &play.publisher) {
        return asks().await;
    }
    let missing = Problem::from(MediaError::NothingPublished);
    let until = Instant::now() + ARRIVAL;
    loop {
        match asks().await {
            Err(problem) if problem == missing && Instant::now() < until => {
                tokio::time::sleep(LOOK).await;
            }
            outcome => return outcome,
        }
    }
}

async fn end(Playback(playback): Playback) -> StatusCode {
    playback.end()
}

/// Handles the answer to our offer, or candidates.
async fn change(
    Playback(playback): Playback,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    match is_type(&headers, FRAGMENT) {
        true => playback.trickle(&headers, body).await,
        false => playback.answer(text_body(&headers, body, SDP)?).await,
    }
}
