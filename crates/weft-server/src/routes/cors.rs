//! Requests from pages of other sites that the operator allows, and of the other servers
//! of the cluster (CORS, Fetch standard section 3.2).

use super::App;
use crate::allowed_origin::allowed_origin;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, COOKIE,
    ORIGIN, VARY,
};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// Paths that pages of other sites may be allowed to use.
const PATHS: [&str; 3] = ["/whip/", "/whep/", "/api/rooms/"];
const METHODS: &str = "GET, POST, PUT, PATCH, DELETE";
/// Request headers that clients send.
const TAKEN: &str = "Authorization, Content-Type, If-Match, Last-Event-ID, Weft-Secret";
/// Response headers that clients read (RFC 9725 section 4).
const EXPOSED: &str = "Location, Link, ETag, Accept-Post, Retry-After, WWW-Authenticate";
/// Seconds for which a browser caches the answer; Chromium's maximum.
const MAX_AGE: &str = "7200";

/// Marks a request from an allowed page of another site.
#[derive(Clone, Copy)]
pub(super) struct FromAllowedOrigin;

/// Answers preflights of allowed origins and lets their pages read responses.
/// Ignores their cookies, so that a page has only the token that its visitor
/// entered.
pub(super) async fn answer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    // Pages of the cluster move here from other servers.
    let (origins, cluster) = (app.origins.get(), app.hub.cluster_origins());
    let is_alone = origins.is_empty() && cluster.is_empty();
    if is_alone || !PATHS.iter().any(|prefix| path.starts_with(prefix)) {
        return next.run(request).await;
    }
    let headers = request.headers();
    let origin = allowed_origin(&[&origins, &cluster], headers).and(headers.get(ORIGIN).cloned());
    let asks = headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match &origin {
        Some(_) if request.method() == Method::OPTIONS && asks => {
            let headers = [
                (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
                (ACCESS_CONTROL_ALLOW_HEADERS, TAKEN),
                (ACCESS_CONTROL_MAX_AGE, MAX_AGE),
            ];
            (StatusCode::NO_CONTENT, headers).into_response()
        }
        Some(_) => {
            request.headers_mut().remove(COOKIE);
            request.extensions_mut().insert(FromAllowedOrigin);
            next.run(request).await
        }
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(EXPOSED),
        );
    }
    response
}
