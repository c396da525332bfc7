//! Requests about a media connection that is there already: the part that
//! WHIP and WHEP have in common.

use super::{App, Body, FRAGMENT, RoomName, ask, text_body};
use crate::hub::{Hub, RoleOf};
use crate::media_plane::ResourceId;
use crate::problem::Problem;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use serde::Deserialize;
use std::sync::Arc;

/// A media connection that is in the room and has the role that the request's
/// address says. Who knows its address may change it.
pub(super) struct Existing {
    pub(super) hub: Arc<Hub>,
    pub(super) resource: ResourceId,
}

/// One that publishes.
pub(super) struct Publication(pub(super) Existing);
/// One that plays.
pub(super) struct Playback(pub(super) Existing);

/// The parts of the address; WHEP's has a participant, too.
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

    /// It ends on request.
    pub(super) fn end(self) -> StatusCode {
        self.hub.close(&self.resource);
        StatusCode::OK
    }

    /// Candidates of the peer (RFC 8840).
    pub(super) async fn trickle(
        self,
        headers: &HeaderMap,
        body: Body,
    ) -> Result<StatusCode, Problem> {
        let fragment = text_body(headers, body, FRAGMENT)?;
        let resource = self.resource;
        ask(&self.hub, move |media| {
            media.add_candidates(&resource, &fragment)
        })
        .await?;
        Ok(StatusCode::NO_CONTENT)
    }
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
