//! WHEP (draft-ietf-wish-whep-03): play by one HTTP request with an offer,
//! or by two where the server offers.

use super::existing::Playback;
use super::{
    App, Body, FRAGMENT, Pending, RoomName, SDP, accepts_sdp, ask, body_of, created, escaped,
    is_type, text_body,
};
use crate::media_plane::Command;
use crate::problem::Problem;
use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{delete, post};

pub(super) fn routes() -> Router<App> {
    let resource = "/whep/{room}/{participant}/{resource}";
    Router::new()
        .route(
            "/whep/{room}/{participant}",
            post(play).options(async || accepts_sdp()),
        )
        .route(resource, delete(end).patch(change))
}

async fn play(
    State(app): State<App>,
    Path((RoomName(room), participant)): Path<(RoomName, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let body = body_of(body)?;
    let offer = match body.is_empty() {
        true => None,
        false => Some(text_body(&headers, Ok(body), SDP)?),
    };
    let (resource, publisher) = app.hub.open_playback(&room, &participant)?;
    let pending = Pending::new(&app.hub, resource.clone());
    let location = format!(
        "/whep/{}/{}/{}",
        escaped(&room),
        escaped(&participant),
        resource.0
    );
    let agreed = ask(&app.hub, |reply| Command::Play {
        resource,
        room,
        publisher,
        offer,
        reply,
    })
    .await?;
    pending.done();
    Ok(created(&location, agreed.sdp))
}

async fn end(Playback(playback): Playback) -> StatusCode {
    playback.end()
}

/// The answer to our offer, or candidates.
async fn change(
    Playback(playback): Playback,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    if is_type(&headers, FRAGMENT) {
        return playback.trickle(&headers, body).await;
    }
    let sdp = text_body(&headers, body, SDP)?;
    let resource = playback.resource;
    ask(&playback.hub, |reply| Command::Answer {
        resource,
        sdp,
        reply,
    })
    .await?;
    Ok(StatusCode::NO_CONTENT)
}
