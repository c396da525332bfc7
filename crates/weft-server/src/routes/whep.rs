//! WHEP (draft-ietf-wish-whep-03): play by one HTTP request with an offer,
//! or by two where the server offers.

use super::{
    App, FRAGMENT, Pending, SDP, accepts_sdp, ask, body_of, created, is_type, segment, text_body,
};
use crate::hub::RoleOf;
use crate::media_plane::{Command, ResourceId};
use crate::problem::Problem;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::{delete, post};

type Body = Result<Bytes, BytesRejection>;

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
    Path((room, participant)): Path<(String, String)>,
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
        segment(&room),
        segment(&participant),
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

async fn end(
    State(app): State<App>,
    Path((room, _, resource)): Path<(String, String, String)>,
) -> Result<StatusCode, Problem> {
    let resource = ResourceId(resource);
    app.hub.check(&room, &resource, RoleOf::Play)?;
    app.hub.close(&resource);
    Ok(StatusCode::OK)
}

/// The answer to our offer, or candidates.
async fn change(
    State(app): State<App>,
    Path((room, _, resource)): Path<(String, String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let resource = ResourceId(resource);
    app.hub.check(&room, &resource, RoleOf::Play)?;
    if is_type(&headers, FRAGMENT) {
        let fragment = text_body(&headers, body, FRAGMENT)?;
        ask(&app.hub, |reply| Command::Candidates {
            resource,
            fragment,
            reply,
        })
        .await?;
    } else {
        let sdp = text_body(&headers, body, SDP)?;
        ask(&app.hub, |reply| Command::Answer {
            resource,
            sdp,
            reply,
        })
        .await?;
    }
    Ok(StatusCode::NO_CONTENT)
}
