//! Moderation by participants whose token allows it.

use super::talk::Sender;
use super::{App, Body, json_body};
use crate::log::ServerEvent;
use crate::problem::Problem;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{delete, put};
use axum::{Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::SystemTime;

pub(super) fn routes() -> Router<App> {
    let participant = "/api/rooms/{room}/participants/{target}";
    Router::new()
        .route("/api/rooms/{room}/settings", put(set_settings))
        .route(participant, delete(remove))
        .route(&format!("{participant}/mute"), put(mute))
        .route(&format!("{participant}/admission"), put(admit))
}

/// Participant whom a moderator acts on.
#[derive(Deserialize)]
struct Target {
    target: String,
}

#[derive(Deserialize)]
struct WantedSettings {
    locked: Option<bool>,
    waiting_room: Option<bool>,
}

async fn set_settings(
    sender: Sender,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Problem> {
    let wanted: WantedSettings = json_body(&headers, body)?;
    let wanted = (wanted.locked, wanted.waiting_room);
    sender.app().hub.set_settings(&sender.arrival(), wanted)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn mute(
    Path(Target { target }): Path<Target>,
    sender: Sender,
) -> Result<StatusCode, Problem> {
    sender.app().hub.mute(&sender.arrival(), &target)?;
    Ok(StatusCode::NO_CONTENT)
}

async fn admit(
    Path(Target { target }): Path<Target>,
    sender: Sender,
) -> Result<StatusCode, Problem> {
    sender.app().hub.admit(&sender.arrival(), &target)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Removes a participant, and revokes their signed token if no other participant inside holds it.
async fn remove(
    Path(Target { target }): Path<Target>,
    sender: Sender,
) -> Result<Json<Value>, Problem> {
    let App { hub, gate, .. } = sender.app();
    let arrival = sender.arrival();
    let removed = hub.remove_by(&arrival, &target)?;
    hub.log().emit(|| ServerEvent::Removed {
        room: arrival.room.to_owned(),
        id: removed.id.clone(),
    });
    let revoked = removed.token.is_some();
    if let Some(token) = removed.token {
        let id = gate.revoke_id(token, SystemTime::now())?;
        hub.end_token(&id);
        let token = id.to_string();
        hub.log().emit(|| ServerEvent::Revoked { token });
    }
    Ok(Json(json!({ "revoked": revoked })))
}
