//! Routes for operators and their monitoring.

use super::room_metrics::write_rooms;
use super::{App, answer, refused};
use crate::auth::RequiredAccess;
use crate::cluster_counts::{ClusterCounts, Count};
use crate::hub::{Hub, is_full};
use crate::media_plane::{Destination, Stats};
use crate::origin::Peer;
use crate::problem::Problem;
use crate::refusals::Refusals;
use crate::webhook::{Counts, Webhooks};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Router, middleware};
use std::fmt::Write as _;
use weft_net::ProcessUsage;
use weft_units::{Duration, Instant};

/// Maximum age of the cached media statistics: collecting them takes time from
/// packets. Chosen by us.
const FRESH: Duration = Duration::from_secs(1);

/// Latest statistics of each media plane, with their time.
pub(crate) type Figures = tokio::sync::Mutex<Option<(Instant, Vec<Stats>)>>;

/// Routes on the public address: statistics require the token, if there is one.
pub(super) fn routes(app: App) -> Router<App> {
    let guard = middleware::from_fn_with_state(app, check);
    Router::new()
        .route("/metrics", get(metrics).route_layer(guard))
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
}

async fn check(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    match app
        .admit(&peer, request.headers(), RequiredAccess::Figures)
        .await
    {
        Ok(_) => next.run(request).await,
        Err(problem) => refused(problem),
    }
}

/// Routes on the operator's own address.
pub(super) fn open_routes() -> Router<App> {
    Router::new()
        .route("/metrics", get(metrics))
        .route("/healthz", get(health))
        .route("/readyz", get(ready))
}

/// Statistics of the media side, not older than [`FRESH`]. Simultaneous
/// requests share an answer.
async fn figures(app: &App) -> Result<Vec<Stats>, Problem> {
    let mut kept = app.figures.lock().await;
    let now = app.hub.now();
    if let Some((at, figures)) = &*kept
        && now.saturating_since(*at) < FRESH
    {
        return Ok(figures.clone());
    }
    let media = app.hub.media();
    let ask = |plane| media.ask(Destination::Plane(plane), |media| media.stats());
    let mut figures = Vec::new();
    for asked in (0..media.planes()).map(ask).collect::<Vec<_>>() {
        figures.push(answer(asked).await?);
    }
    *kept = Some((now, figures.clone()));
    Ok(figures)
}

/// Healthy if the media side answers, or did within the last second.
async fn health(State(app): State<App>) -> Result<&'static str, Problem> {
    figures(&app).await?;
    Ok("ok\n")
}

/// Ready if newcomers are welcome: for load balancers, which then choose another server.
async fn ready(State(app): State<App>) -> Result<&'static str, Problem> {
    if !app.hub.admits_newcomers() {
        return Err(Problem::overloaded("new participants: it is about to stop"));
    }
    let planes = figures(&app).await?;
    match is_full(planes.iter().map(|plane| plane.busy)) {
        true => Err(Problem::overloaded("another media connection")),
        false => Ok("ready\n"),
    }
}

/// Metrics in the Prometheus text format 0.0.4.
async fn metrics(State(app): State<App>) -> Result<Response, Problem> {
    let planes = figures(&app).await?;
    let media = planes.iter().copied().fold(Stats::default(), Stats::and);
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
        (
            "weft_tcp_connections",
            "TCP connections that carry media.",
            media.tcp_connections,
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
            "weft_tcp_datagrams_dropped_total",
            "Datagrams for which TCP connections were too slow.",
            media.tcp_dropped,
        ),
        (
            "weft_keyframe_requests_total",
            "Keyframes asked of publishers.",
            media.keyframe_requests,
        ),
        (
            "weft_messages_passed_total",
            "Messages on data channels, one for each receiver.",
            media.messages_passed,
        ),
        (
            "weft_messages_dropped_total",
            "Messages on data channels that were not passed on.",
            media.messages_dropped,
        ),
        (
            "weft_relayed_lost_total",
            "Packets that media threads did not take from each other in time.",
            media.relayed_lost,
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
    write_process(&mut text, ProcessUsage::own().unwrap_or_default());
    write_threads(&mut text, &planes);
    write_rooms(&mut text, app.hub.room_figures(), app.metrics_rooms);
    write_refusals(&mut text, app.hub.refusals());
    write_cluster(&mut text, &app.hub);
    let webhooks = app.hub.webhooks();
    write_webhooks(
        &mut text,
        webhooks.map(Webhooks::counts).unwrap_or_default(),
    );
    let kind = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
    Ok((kind, text).into_response())
}

/// Writes processor time and memory under the names that Prometheus' own clients use.
fn write_process(text: &mut String, usage: ProcessUsage) {
    let _ = writeln!(
        text,
        "# HELP process_cpu_seconds_total Processor time of the server in seconds.\n\
         # TYPE process_cpu_seconds_total counter\n\
         process_cpu_seconds_total {}\n\
         # HELP process_resident_memory_bytes Resident memory of the server in bytes.\n\
         # TYPE process_resident_memory_bytes gauge\n\
         process_resident_memory_bytes {}",
        usage.cpu.as_secs_f64(),
        usage.memory.0
    );
}

/// Writes the statistics of each media thread.
fn write_threads(text: &mut String, planes: &[Stats]) {
    let busy = |stats: &Stats| stats.busy as f64 / 1000.0;
    let lag = |stats: &Stats| stats.lag as f64 / 1e6;
    let connections = |stats: &Stats| (stats.publications + stats.playbacks) as f64;
    for (name, help, value) in [
        (
            "weft_media_thread_busy",
            "Part of the last second in which a media thread used a processor.",
            &busy as &dyn Fn(&Stats) -> f64,
        ),
        (
            "weft_media_thread_lag_seconds",
            "Longest turn of a media thread in the last second: packets may wait so long.",
            &lag,
        ),
        (
            "weft_media_thread_connections",
            "Media connections of a media thread.",
            &connections,
        ),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge");
        for (thread, stats) in planes.iter().enumerate() {
            let _ = writeln!(text, "{name}{{thread=\"{thread}\"}} {}", value(stats));
        }
    }
}

/// Writes the statistics of the cluster; zeros for a single server.
fn write_cluster(text: &mut String, hub: &Hub) {
    let counts = hub.cluster_counts();
    let count = |of: fn(&ClusterCounts) -> &Count| counts.map_or(0, |counts| of(counts).get());
    for (kind, name, help, value) in [
        (
            "gauge",
            "weft_cluster_servers",
            "Other servers of the cluster that are alive.",
            count(|counts| &counts.servers),
        ),
        (
            "gauge",
            "weft_cluster_reachable",
            "Whether this server is in a cluster and reaches the others over NATS.",
            u64::from(hub.hears_others()),
        ),
        (
            "gauge",
            "weft_cluster_pulls",
            "Publications that come from other servers of the cluster.",
            count(|counts| &counts.pulls),
        ),
        (
            "counter",
            "weft_cluster_pulls_failed_total",
            "Connections for them that were not established, or ended early.",
            count(|counts| &counts.failed),
        ),
        (
            "counter",
            "weft_cluster_pulls_refused_total",
            "Requests of other servers for publications that this server refused.",
            count(|counts| &counts.refused),
        ),
    ] {
        let _ = writeln!(
            text,
            "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}"
        );
    }
}

/// Writes the counts of events for the operator's target.
fn write_webhooks(text: &mut String, counts: Counts) {
    let _ = writeln!(
        text,
        "# HELP weft_webhook_events_total Events for the webhook that it took, or that are lost.\n\
         # TYPE weft_webhook_events_total counter\n\
         weft_webhook_events_total{{result=\"delivered\"}} {}\n\
         weft_webhook_events_total{{result=\"dropped\"}} {}\n\
         # HELP weft_webhook_failures_total Requests to the webhook that failed.\n\
         # TYPE weft_webhook_failures_total counter\n\
         weft_webhook_failures_total {}\n\
         # HELP weft_webhook_events_waiting Events that wait for the webhook.\n\
         # TYPE weft_webhook_events_waiting gauge\n\
         weft_webhook_events_waiting {}",
        counts.delivered, counts.dropped, counts.failed, counts.waiting
    );
}

/// Writes counters whose labels are fixed words.
fn write_refusals(text: &mut String, refusals: &Refusals) {
    let requests = refusals.requests().into_iter();
    let requests = requests
        .map(|((status, kind), times)| (format!("status=\"{status}\",kind=\"{kind}\""), times));
    let connections = refusals.connections().into_iter();
    let connections =
        connections.map(|(reason, times)| (format!("reason=\"{}\"", reason.word()), times));
    for (name, help, rows) in [
        (
            "weft_requests_refused_total",
            "HTTP and TURN requests that were refused.",
            requests.collect::<Vec<_>>(),
        ),
        (
            "weft_http_connections_refused_total",
            "HTTP connections that were not accepted, or closed for others.",
            connections.collect(),
        ),
    ] {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} counter");
        for (labels, times) in rows {
            let _ = writeln!(text, "{name}{{{labels}}} {times}");
        }
    }
}
