//! Chat, raised hands, reactions and names of participants. The room's event stream
//! carries them to the others.

use super::{App, Body, RoomName, Who, json_body};
use crate::origin::Origin;
use crate::problem::Problem;
use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{delete, post, put};
use axum::{Extension, Json, Router};
use serde::Deserialize;
use serde_json::{Value, json};
use weft_rooms::{Hand, Reaction};

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/rooms/{room}/chat", post(say))
        .route("/api/rooms/{room}/hand", put(set_hand))
        .route("/api/rooms/{room}/reaction", post(react))
        .route("/api/rooms/{room}/name", put(rename))
        .route("/api/rooms/{room}/mute", delete(unmute))
}

/// Participant who sends a request.
pub(super) struct Sender {
    app: App,
    room: String,
    who: Who,
    headers: HeaderMap,
    origin: Origin,
}

impl Sender {
    pub(super) fn app(&self) -> &App {
        &self.app
    }

    pub(super) fn arrival(&self) -> crate::hub::Arrival<'_> {
        self.who
            .arrival(&self.room, "", &self.headers, &self.origin)
    }
}

impl FromRequestParts<App> for Sender {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Sender, Problem> {
        #[derive(Deserialize)]
        struct Address {
            room: RoomName,
        }
        let Path(Address { room }) = Path::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::no_path(parts.uri.path()))?;
        let who: Result<Query<Who>, QueryRejection> = Query::from_request_parts(parts, app).await;
        let who = Who::of(who, "sends it")?;
        let Extension(origin) = Extension::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::no_path(parts.uri.path()))?;
        Ok(Sender {
            app: app.clone(),
            room: room.0,
            who,
            headers: parts.headers.clone(),
            origin,
        })
    }
}

#[derive(Deserialize)]
struct Message {
    text: String,
    key: Option<String>,
}

async fn say(
    sender: Sender,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let Message { text, key } = json_body(&headers, body)?;
    let hub = &sender.app().hub;
    let id = hub.say(&sender.arrival(), &text, key.as_deref())?;
    Ok((StatusCode::CREATED, Json(json!({ "id": id }))))
}

#[derive(Deserialize)]
struct WantedHand {
    raised: bool,
}

async fn set_hand(sender: Sender, headers: HeaderMap, body: Body) -> Result<StatusCode, Problem> {
    let hand = match json_body(&headers, body)? {
        WantedHand { raised: true } => Hand::Raised,
        WantedHand { raised: false } => Hand::Lowered,
    };
    sender.app().hub.set_hand(&sender.arrival(), hand)?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct Reacted {
    reaction: Reaction,
}

async fn react(sender: Sender, headers: HeaderMap, body: Body) -> Result<StatusCode, Problem> {
    let Reacted { reaction } = json_body(&headers, body)?;
    sender.app().hub.react(&sender.arrival(), reaction)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Ends the sender's own mute by a moderator.
async fn unmute(sender: Sender) -> Result<StatusCode, Problem> {
    sender.app().hub.unmute(&sender.arrival())?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
struct WantedName {
    name: String,
}

async fn rename(sender: Sender, headers: HeaderMap, body: Body) -> Result<Json<Value>, Problem> {
    let WantedName { name } = json_body(&headers, body)?;
    let shown = sender.app().hub.rename(&sender.arrival(), &name)?;
    Ok(Json(json!({ "name": shown })))
}
