//! What operators and their monitors ask for.

use super::{App, ask};
use crate::media_plane::Command;
use crate::problem::Problem;
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::fmt::Write as _;

pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(health))
}

/// Well if the media side answers.
async fn health(State(app): State<App>) -> Result<&'static str, Problem> {
    ask(&app.hub, |reply| Command::Stats { reply }).await?;
    Ok("ok\n")
}

/// Prometheus text format 0.0.4.
async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let media = ask(&app.hub, |reply| Command::Stats { reply }).await?;
    let (rooms, participants, streams) = app.hub.counts();
    let gauges = [
        ("weft_rooms", "Rooms with somebody in them.", rooms as u64),
        (
            "weft_participants",
            "Participants in all rooms.",
            participants as u64,
        ),
        ("weft_event_streams", "Open event streams.", streams as u64),
        (
            "weft_publications",
            "Media connections that publish.",
            media.publications,
        ),
        (
            "weft_playbacks",
            "Media connections that play.",
            media.playbacks,
        ),
    ];
    let counters = [
        (
            "weft_packets_received_total",
            "Media packets from publishers.",
            media.packets_received,
        ),
        (
            "weft_packets_forwarded_total",
            "Media packets to players.",
            media.packets_forwarded,
        ),
        (
            "weft_packets_thinned_total",
            "Media packets kept from players who cannot take them.",
            media.packets_thinned,
        ),
        (
            "weft_datagrams_dropped_total",
            "Datagrams of no use.",
            media.datagrams_dropped,
        ),
        (
            "weft_datagrams_unsent_total",
            "Datagrams that the system did not send: no room, no route.",
            media.datagrams_unsent,
        ),
        (
            "weft_keyframe_requests_total",
            "Keyframes asked of publishers.",
            media.keyframe_requests,
        ),
    ];
    let mut text = String::new();
    for (kind, figures) in [("gauge", &gauges[..]), ("counter", &counters[..])] {
        for (name, help, value) in figures {
            let _ = writeln!(
                text,
                "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
            );
        }
    }
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, text).into_response())
}
