mod admin;
mod cors;
mod elsewhere;
mod existing;
mod guard;
mod invitations;
mod moderation;
mod operator;
mod policy;
mod reception;
mod recordings;
mod room_metrics;
mod rooms;
mod talk;
mod whep;
mod whip;

pub use guard::Admitted;

use crate::allowed_origin::AllowedOrigin;
use crate::auth::{Access, AdminGate, Gate, May, RequiredAccess};
use crate::hub::{Arrival, Hub};
use crate::ice_servers::{IceServers, client_of, host_of, newcomer};
use crate::listener::MAX_BODY;
use crate::live::Live;
use crate::media_plane::{Destination, Media, MediaError, Negotiated, ResourceId};
use crate::origin::{Origin, Peer, address_of};
use crate::page;
use crate::problem::Problem;
use crate::secret::secret_of;
use crate::urls::escaped;
use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{ConnectInfo, DefaultBodyLimit, Query, RawPathParams, Request, State};
use axum::http::header::{
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, LOCATION, SET_COOKIE, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{self, Next};
use axum::response::{AppendHeaders, IntoResponse, Redirect, Response};
use axum::routing::get;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::oneshot;
use weft_rooms::ParticipantKind;

/// Timeout for the media plane, which answers within milliseconds.
const MEDIA_TIMEOUT: Duration = Duration::from_secs(5);

const SDP: &str = "application/sdp";
const FRAGMENT: &str = "application/trickle-ice-sdpfrag";

/// Name of a room in a URL. Case is ignored, because people type names both ways.
#[derive(Deserialize)]
#[serde(from = "String")]
struct RoomName(String);

impl From<String> for RoomName {
    fn from(typed: String) -> RoomName {
        RoomName(typed.to_lowercase())
    }
}

/// Participant who publishes or plays, from the query of a request.
#[derive(Deserialize)]
struct Who {
    participant: Option<String>,
    name: Option<String>,
    kind: Option<ParticipantKind>,
}

impl Who {
    fn of(query: Result<Query<Who>, QueryRejection>, does: &str) -> Result<Who, Problem> {
        query.map(|Query(who)| who).map_err(|_| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                format!("The request does not name the participant who {does}."),
                "Give ?name=, or ?participant= with the id that the room's event stream gave you.",
            )
        })
    }

    /// Clients like OBS have only a URL, so their name is their kind.
    fn arrival<'a>(
        &'a self,
        room: &'a str,
        otherwise: &'a str,
        headers: &'a HeaderMap,
        origin: &'a Origin,
    ) -> Arrival<'a> {
        let nameless = self.participant.is_none().then_some(otherwise);
        Arrival {
            room,
            name: self.name.as_deref().or(nameless),
            kind: self.kind.unwrap_or(ParticipantKind::Whip),
            id: self.participant.as_deref(),
            secret: secret_of(headers),
            origin,
        }
    }
}

/// State for the handlers.
#[derive(Clone)]
pub(crate) struct App {
    pub(crate) hub: Arc<Hub>,
    pub(crate) gate: Gate,
    pub(crate) admin: AdminGate,
    /// Origins whose pages may send requests from another site.
    pub(crate) origins: Live<Vec<AllowedOrigin>>,
    /// Whether only names of this machine's loopback are valid hosts.
    pub(crate) only_loopback: bool,
    pub(crate) figures: Arc<operator::Figures>,
    /// Maximum number of rooms with their own metrics.
    pub(crate) metrics_rooms: usize,
    pub(crate) ice_servers: Live<IceServers>,
}

impl App {
    /// Checks the token of a request. The connection of a valid token counts as
    /// admitted from then on.
    async fn admit(
        &self,
        peer: &Peer,
        headers: &HeaderMap,
        required: RequiredAccess<'_>,
    ) -> Result<Access, Problem> {
        let asker = (self.hub.now(), address_of(peer, headers));
        let access = self.gate.check(asker, headers, required).await?;
        if !self.gate.is_open() {
            peer.known.set();
        }
        Ok(access)
    }
}

/// All routes; `extra` are added unchanged.
pub(crate) fn router(app: App, extra: Option<Router>) -> Router {
    let guarded = |may: May, routes: Router<App>| {
        routes.route_layer(middleware::from_fn_with_state((app.clone(), may), check))
    };
    let watching = Router::new()
        .merge(rooms::routes())
        .merge(invitations::routes())
        .merge(reception::routes())
        .merge(talk::routes())
        .merge(whep::routes());
    let guarded = guarded(May::Watch, watching)
        .merge(guarded(May::TakePart, whip::routes()))
        .merge(guarded(May::Moderate, moderation::routes()))
        .merge(guarded(May::Moderate, recordings::routes()));
    Router::new()
        .merge(guarded)
        .merge(operator::routes(app.clone()))
        .merge(admin::routes(app.clone()))
        .route("/frame", get(frame))
        .fallback(page_or_problem)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(app.clone())
        .merge(guard::told_who_asks(&app, extra.unwrap_or_default()))
        .layer(middleware::from_fn_with_state(
            app.clone(),
            guard::check_name,
        ))
        .layer(middleware::from_fn(guard::check_site))
        .layer(middleware::from_fn_with_state(app.clone(), cors::answer))
        .layer(middleware::from_fn_with_state(app, guard::write_down))
        .layer(middleware::map_response(policy::complete))
}

/// Operator routes, for a separate address.
pub(crate) fn operator_router(app: App) -> Router {
    let routes = operator::open_routes().with_state(app);
    routes.layer(middleware::map_response(policy::complete))
}

/// Admits requests with this permission in the room of the URL.
async fn check(
    State((app, may)): State<(App, May)>,
    names: RawPathParams,
    ConnectInfo(peer): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let room = names.iter().find(|(name, _)| *name == "room");
    let room = RoomName::from(room.map_or(String::new(), |(_, room)| room.to_owned()));
    let required = RequiredAccess::In(&room.0, may);
    match app.admit(&peer, request.headers(), required).await {
        Ok(access) => {
            let origin = Origin::new(&peer, request.headers(), &access);
            request.extensions_mut().insert(origin);
            request.extensions_mut().insert(access);
            // Without tokens, a connection counts as admitted after joining a
            // room.
            let path = request.uri().path();
            let joins = path.ends_with("/events")
                || *request.method() == Method::POST && !path.ends_with("/invitation");
            let response = next.run(request).await;
            if app.gate.is_open() && joins && response.status().is_success() {
                peer.known.set();
            }
            response
        }
        Err(problem) => refused(problem),
    }
}

/// Adds the authentication challenge if no valid token was shown (RFC 6750
/// section 3).
fn refused(problem: Problem) -> Response {
    match problem.status {
        StatusCode::UNAUTHORIZED => ([(WWW_AUTHENTICATE, "Bearer")], problem).into_response(),
        _ => problem.into_response(),
    }
}

/// Serves the document from which pages that move send their requests.
async fn frame(State(app): State<App>) -> Response {
    page::frame(&app.hub.cluster_origins())
}

/// Serves the page or one of its files for every path that is not an interface.
async fn page_or_problem(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let path = uri.path();
    let is_interface = ["/api", "/whip", "/whep", "/metrics", "/healthz", "/readyz"]
        .iter()
        .any(|p| {
            path.strip_prefix(p)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        });
    if is_interface {
        return Problem::no_path(path).into_response();
    }
    if method != Method::GET && method != Method::HEAD {
        return wrong_method().await;
    }
    let wanted = path.trim_start_matches('/');
    if wanted != "index.html"
        && let Some(file) = page::file(wanted)
    {
        return file;
    }
    let room = wanted
        .strip_prefix("r/")
        .map(|rest| rest.trim_end_matches('/'))
        .and_then(|room| percent_decode_str(room).decode_utf8().ok());
    if let Some(room) = &room
        && let Some(redirect) = elsewhere::redirect_page(&app, &peer, (room, &uri), &headers).await
    {
        return redirect;
    }
    let segments: Vec<&str> = wanted.trim_end_matches('/').split('/').collect();
    match segments[..] {
        ["" | "index.html" | "demo"] | ["r", _] => {
            with_cookies(&app, &peer, (room.as_deref(), &uri), &headers).await
        }
        _ if wanted.starts_with("assets/") => Problem::no_path(path).into_response(),
        _ => page::page(StatusCode::NOT_FOUND, &[]),
    }
}

/// Serves the page of a room, or another one. If its URL has a valid token, the token
/// moves from the URL into a cookie.
async fn with_cookies(
    app: &App,
    peer: &Peer,
    (room, uri): (Option<&str>, &Uri),
    headers: &HeaderMap,
) -> Response {
    let pairs: Vec<&str> = uri
        .query()
        .unwrap_or("")
        .split('&')
        .filter(|p| !p.is_empty())
        .collect();
    let given = pairs.iter().find_map(|p| p.strip_prefix("token="));
    let given = given.and_then(|given| percent_decode_str(given).decode_utf8().ok());
    let asker = (app.hub.now(), address_of(peer, headers));
    let room = room.map(str::to_lowercase);
    let cookies = match given {
        Some(given) => {
            let page = (room.as_deref(), &*given);
            app.gate.cookies_for(asker, headers, page).await
        }
        None => Vec::new(),
    };
    if cookies.is_empty() {
        return page::page(StatusCode::OK, &app.hub.cluster_origins());
    }
    let rest: Vec<&str> = pairs
        .into_iter()
        .filter(|p| !p.starts_with("token="))
        .collect();
    let target = match rest.is_empty() {
        true => uri.path().to_owned(),
        false => format!("{}?{}", uri.path(), rest.join("&")),
    };
    let cookies = cookies.into_iter().map(|cookie| (SET_COOKIE, cookie));
    (AppendHeaders(cookies), Redirect::to(&target)).into_response()
}

async fn wrong_method() -> Response {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "This address does not accept this HTTP method.",
        "The documentation lists the requests.",
    )
    .into_response()
}

/// Request body, or the reason why there is none.
type Body = Result<Bytes, BytesRejection>;

/// Request body of this media type as text.
fn text_body(headers: &HeaderMap, body: Body, expected: &str) -> Result<String, Problem> {
    if !is_type(headers, expected) {
        return Err(Problem::bad_body(expected));
    }
    let body = body_of(body)?;
    String::from_utf8(body.into()).map_err(|_| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "The request's body is not text.",
            "Send UTF-8.",
        )
    })
}

fn body_of(body: Body) -> Result<Bytes, Problem> {
    body.map_err(|rejection| {
        Problem::new(
            rejection.status(),
            "The request's body is too long or incomplete.",
            format!("Send at most {MAX_BODY} bytes."),
        )
    })
}

fn json_body<T: serde::de::DeserializeOwned>(
    headers: &HeaderMap,
    body: Body,
) -> Result<T, Problem> {
    let text = text_body(headers, body, "application/json")?;
    serde_json::from_str(&text).map_err(|error| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            format!("The request's body cannot be read: {error}."),
            "Send JSON in the documented form.",
        )
    })
}

fn is_type(headers: &HeaderMap, expected: &str) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
    let kind = value.and_then(|v| v.split(';').next()).unwrap_or("");
    kind.trim().eq_ignore_ascii_case(expected)
}

/// Sends a request to the media plane of a connection and waits for the answer.
async fn ask<T: Send + 'static>(
    hub: &Hub,
    connection: &ResourceId,
    question: impl FnOnce(&mut dyn Media) -> Result<T, MediaError> + Send + 'static,
) -> Result<T, Problem> {
    let to = Destination::Connection(connection);
    Ok(answer(hub.media().ask(to, question)).await??)
}

/// Waits for an answer of a media plane.
async fn answer<T>(answer: oneshot::Receiver<T>) -> Result<T, Problem> {
    match tokio::time::timeout(MEDIA_TIMEOUT, answer).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(_)) => Err(MediaError::Gone.into()),
        Err(_) => Err(Problem::overloaded("this request in time")),
    }
}

/// Resource under construction: closed again if the request fails, or its
/// client disconnects.
struct Pending {
    hub: Arc<Hub>,
    resource: Option<ResourceId>,
}

impl Pending {
    fn new(hub: &Arc<Hub>, resource: ResourceId) -> Pending {
        Pending {
            hub: Arc::clone(hub),
            resource: Some(resource),
        }
    }

    fn done(mut self) {
        self.resource = None;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(resource) = &self.resource {
            self.hub.close(resource);
        }
    }
}

/// Response 201 with a description, the URL of the new resource, and the name
/// of its ICE session if it can be restarted.
fn created(location: &str, agreed: Negotiated) -> Response {
    let Ok(location) = HeaderValue::from_str(location) else {
        return Problem::no_path(location).into_response();
    };
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(SDP)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (LOCATION, location),
    ];
    let session = agreed.ice_session.as_deref();
    let tag = session.map(existing::entity_tag).unwrap_or_default();
    (StatusCode::CREATED, headers, tag, agreed.sdp).into_response()
}

/// Response with the accepted media type (RFC 9725 section 4.2) and the ICE
/// servers, for clients that need them before their offer (section 4.6).
async fn options(State(app): State<App>, request: HeaderMap) -> Response {
    let headers = [
        ("accept-post", HeaderValue::from_static(SDP)),
        (ALLOW.as_str(), HeaderValue::from_static("POST, OPTIONS")),
        (CACHE_CONTROL.as_str(), HeaderValue::from_static("no-store")),
    ];
    let host = host_of(&request);
    let ice_servers = app.ice_servers.get();
    let links = ice_servers.links(&newcomer(), host, SystemTime::now());
    (StatusCode::NO_CONTENT, headers, links).into_response()
}

/// Response with the methods of a connection (RFC 9725 section 4.1).
async fn resource_options() -> Response {
    let headers = [
        (ALLOW, HeaderValue::from_static("PATCH, DELETE, OPTIONS")),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

/// Header fields that name the ICE servers to the client of a new connection.
fn ice_links(app: &App, resource: &ResourceId, request: &HeaderMap) -> HeaderMap {
    let client = client_of(&resource.0);
    let ice_servers = app.ice_servers.get();
    ice_servers.links(&client, host_of(request), SystemTime::now())
}
