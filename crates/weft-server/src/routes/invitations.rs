//! Permissions of a participant, and tokens for guests.

use super::{App, Body, RoomName, json_body};
use crate::auth::{Access, Grant, May};
use crate::problem::Problem;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use serde::{Deserialize, Serialize};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longest validity of an invitation: a leap year. Chosen by us.
const LONGEST_HOURS: f64 = 8784.0;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/api/rooms/{room}/access", get(access))
        .route("/api/rooms/{room}/invitation", post(invite))
}

/// Permission of the requesting participant, and its end.
#[derive(Serialize)]
struct Answer {
    may: May,
    /// Seconds since 1970; `None` without a limit.
    until: Option<u64>,
}

/// Permission query, for pages that want to know before they ask for a camera.
async fn access(Extension(access): Extension<Access>) -> Json<Answer> {
    Json(match access {
        Access::Open | Access::Everywhere => Answer {
            may: May::Moderate,
            until: None,
        },
        Access::Granted(grant) => Answer {
            may: grant.may,
            until: Some(seconds(grant.until)),
        },
    })
}

#[derive(Deserialize)]
struct Wanted {
    may: May,
    hours: f64,
}

/// Token for guests; `None` if no token is required.
async fn invite(
    State(app): State<App>,
    Path(RoomName(room)): Path<RoomName>,
    Extension(access): Extension<Access>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let wanted: Wanted = json_body(&headers, body)?;
    let hours = wanted.hours.clamp(0.0, LONGEST_HOURS);
    let until = SystemTime::now() + Duration::from_secs_f64(hours * 3600.0);
    let grant = Grant::new(&room, wanted.may, until)?;
    let token = app.gate.invite(&access, grant)?;
    let answer = serde_json::json!({ "token": token });
    Ok(([(CACHE_CONTROL, "no-store")], Json(answer)).into_response())
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}
