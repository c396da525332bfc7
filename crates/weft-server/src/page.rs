//! The page, built by Vite and embedded by `build.rs`.

use crate::allowed_origin::AllowedOrigin;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// Paths below `web/dist`, with their contents.
static FILES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// Content security policy: only our own files, no frames, no inline code. Pages of a
/// cluster also send requests to its other servers.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; media-src 'self' blob: mediastream:; \
object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The page itself, which chooses its view by the URL and may move to servers of these
/// origins.
pub(crate) fn page(status: StatusCode, cluster: &[AllowedOrigin]) -> Response {
    let mut response = file("index.html").unwrap_or_else(|| StatusCode::NOT_FOUND.into_response());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, policy(cluster));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(self), microphone=(self), display-capture=(self)"),
    );
    response
}

fn policy(cluster: &[AllowedOrigin]) -> HeaderValue {
    let own = HeaderValue::from_static(POLICY);
    if cluster.is_empty() {
        return own;
    }
    let policy = format!("{POLICY}; {}", connections(cluster));
    HeaderValue::try_from(policy).unwrap_or(own)
}

fn connections(cluster: &[AllowedOrigin]) -> String {
    let origins = cluster.iter().map(AllowedOrigin::as_str);
    let all: Vec<&str> = ["'self'"].into_iter().chain(origins).collect();
    format!("connect-src {}", all.join(" "))
}

/// Empty document, which only our own pages can frame, and whose requests may go to
/// servers of these origins. A page that moves sends its requests from here: its own
/// policy lacks the servers that joined after it was loaded.
pub(crate) fn frame(cluster: &[AllowedOrigin]) -> Response {
    let policy = format!(
        "default-src 'none'; {}; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
        connections(cluster)
    );
    let none = HeaderValue::from_static("default-src 'none'");
    let headers = [
        (
            CONTENT_SECURITY_POLICY,
            HeaderValue::try_from(policy).unwrap_or(none),
        ),
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, "<!doctype html><title>weft</title>").into_response()
}

/// File of the page by its path, without a leading slash.
pub(crate) fn file(path: &str) -> Option<Response> {
    let (name, content) = FILES.iter().find(|(name, _)| *name == path)?;
    // Vite puts a hash of the content into the names in assets/.
    let cache = if name.starts_with("assets/") {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let headers = [
        (CONTENT_TYPE, content_type(name)),
        (CACHE_CONTROL, cache),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Some((headers, *content).into_response())
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("woff2") => "font/woff2",
        Some("json" | "map" | "webmanifest") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
