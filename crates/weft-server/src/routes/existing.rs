//! Requests for an existing media connection: the common part of WHIP and WHEP.

use super::{App, Body, FRAGMENT, RoomName, ask, text_body};
use crate::hub::{Hub, RoleOf};
use crate::media_plane::{IceCondition, IceUpdate, Media, ResourceId};
use crate::problem::Problem;
use axum::extract::{FromRequestParts, Path};
use axum::http::header::{CONTENT_TYPE, ETAG, IF_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use std::sync::Arc;

/// Media connection that exists in the room and role of the request's URL.
/// Anyone who knows its URL may change it.
pub(super) struct Existing {
    pub(super) hub: Arc<Hub>,
    pub(super) resource: ResourceId,
}

/// Existing publication.
pub(super) struct Publication(pub(super) Existing);
/// Existing playback.
pub(super) struct Playback(pub(super) Existing);
/// Existing reception of a room.
pub(super) struct Reception(pub(super) Existing);

/// Parts of the URL; WHEP's also has a participant.
#[derive(Deserialize)]
struct Address {
    room: RoomName,
    resource: String,
}

impl Existing {
    async fn find(parts: &mut Parts, app: &App, role: RoleOf) -> Result<Existing, Problem> {
        let address = Path::<Address>::from_request_parts(parts, app).await;
        let Path(Address { room, resource }) = address.map_err(|_| Problem::no_resource())?;
        let resource = ResourceId(resource);
        app.hub.check(&room.0, &resource, role)?;
        Ok(Existing {
            hub: Arc::clone(&app.hub),
            resource,
        })
    }

    /// Closes the connection.
    pub(super) fn end(self) -> StatusCode {
        self.hub.close(&self.resource);
        StatusCode::OK
    }

    /// Handles the answer to an offer of ours.
    pub(super) async fn answer(self, sdp: String) -> Result<Response, Problem> {
        self.hub.check_patch(&self.resource)?;
        let resource = self.resource.clone();
        ask(&self.hub, &self.resource, |media| {
            media.answer(resource, sdp)
        })
        .await?;
        Ok(StatusCode::NO_CONTENT.into_response())
    }

    /// Handles candidates of the peer, or an ICE restart (RFC 9725 section
    /// 4.3).
    pub(super) async fn trickle(
        self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<Response, Problem> {
        self.hub.check_patch(&self.resource)?;
        let update = IceUpdate {
            fragment: text_body(headers, body, FRAGMENT)?,
            condition: condition(headers),
        };
        let resource = self.resource.clone();
        let question = move |media: &mut dyn Media| media.update_ice(&resource, &update);
        let restarted = ask(&self.hub, &self.resource, question).await?;
        Ok(match restarted {
            None => StatusCode::NO_CONTENT.into_response(),
            Some(restarted) => {
                let kind = [(CONTENT_TYPE, FRAGMENT)];
                let tag = entity_tag(&restarted.ice_session);
                (StatusCode::OK, kind, tag, restarted.fragment).into_response()
            }
        })
    }
}

/// Header that names an ICE session.
pub(super) fn entity_tag(ice_session: &str) -> HeaderMap {
    let tag = HeaderValue::from_str(&format!("\"{ice_session}\""));
    tag.into_iter().map(|tag| (ETAG, tag)).collect()
}

/// Sessions named by `If-Match` (RFC 9110 section 13.1.1). Weak tags match
/// none.
fn condition(headers: &HeaderMap) -> IceCondition {
    let values = headers.get_all(IF_MATCH).into_iter();
    let lists = values.filter_map(|value| value.to_str().ok());
    let tags: Vec<&str> = lists.flat_map(|l| l.split(',')).map(str::trim).collect();
    if !headers.contains_key(IF_MATCH) {
        return IceCondition::Unsaid;
    }
    if tags.contains(&"*") {
        return IceCondition::Any;
    }
    let plain = tags.into_iter().filter_map(|tag| {
        let tag = tag.strip_prefix('"')?.strip_suffix('"')?;
        Some(tag.to_owned())
    });
    IceCondition::Named(plain.collect())
}

impl FromRequestParts<App> for Publication {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let found = Existing::find(parts, app, RoleOf::Publish).await?;
        Ok(Publication(found))
    }
}

impl FromRequestParts<App> for Playback {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let found = Existing::find(parts, app, RoleOf::Play).await?;
        Ok(Playback(found))
    }
}

impl FromRequestParts<App> for Reception {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let found = Existing::find(parts, app, RoleOf::Receive).await?;
        Ok(Reception(found))
    }
}
