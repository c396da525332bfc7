//! Checks of every request.

use super::App;
use super::cors::FromAllowedOrigin;
use crate::auth::{Access, RequiredAccess};
use crate::origin::{Origin, Peer};
use crate::problem::{Problem, Refusal};
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use std::net::IpAddr;

/// Whether the request has shown the server's token, if it requires one: for
/// routes that hide details from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted(pub bool);

/// Adds [`Admitted`] to the requests of these routes.
pub(super) fn told_who_asks(app: &App, routes: Router) -> Router {
    routes.layer(middleware::from_fn_with_state(app.clone(), tell))
}

async fn tell(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    mut request: Request,
    next: Next,
) -> Response {
    let access = app
        .admit(&peer, request.headers(), RequiredAccess::Figures)
        .await;
    request.extensions_mut().insert(Admitted(access.is_ok()));
    next.run(request).await
}

/// Refuses requests for foreign host names where no other check keeps strangers
/// out. This prevents DNS rebinding: a page on the internet could point its own
/// name at loopback and then send requests here from the browser.
pub(super) async fn check_name(State(app): State<App>, request: Request, next: Next) -> Response {
    let name = request.headers().get(HOST).and_then(|h| h.to_str().ok());
    match app.only_loopback && !name.is_none_or(is_of_loopback) {
        true => Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "This server accepts requests from this machine only, and the request has another host name.",
            "Open the address that it printed; behind a proxy, start it with --insecure-http or --token.",
        )
        .into_response(),
        false => next.run(request).await,
    }
}

/// Refuses cross-site requests (Fetch Metadata, W3C): a visitor's browser may
/// reach a server that the page cannot, and be admitted there. Following a link
/// to the page is allowed.
pub(super) async fn check_site(request: Request, next: Next) -> Response {
    let is_allowed = request.extensions().get::<FromAllowedOrigin>().is_some();
    match !is_allowed && is_of_another_site(request.method(), request.headers()) {
        true => Problem::new(
            StatusCode::FORBIDDEN,
            "The request came from a page of another site.",
            "Open this server's own address, or ask its operator to allow that site (`weft serve --allow-origin`).",
        )
        .into_response(),
        false => next.run(request).await,
    }
}

fn is_of_another_site(method: &Method, headers: &HeaderMap) -> bool {
    let says = |name: &str, value: &str| headers.get(name).is_some_and(|v| v == value);
    let is_link = *method == Method::GET && says("sec-fetch-dest", "document");
    says("sec-fetch-site", "cross-site") && !is_link
}

/// Whether the host is an IP address, or a name that browsers always resolve to
/// loopback (RFC 6761 section 6.3). Neither can be pointed elsewhere.
fn is_of_loopback(authority: &str) -> bool {
    let Ok(authority) = authority.parse::<Authority>() else {
        return false;
    };
    let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.ends_with(".localhost") || address.parse::<IpAddr>().is_ok()
}

/// Maximum length of a logged refusal, in characters: it may contain the
/// request's path, which has the length of a URL. Chosen by us.
const MAX_WRITTEN: usize = 300;

/// Logs refusals. Closing a connection that has already ended is not logged: a page that
/// is left does both.
pub(super) async fn write_down(
    State(app): State<App>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    request: Request,
    next: Next,
) -> Response {
    let from = Origin::new(&peer, request.headers(), &Access::Everywhere).network;
    let ends = request.method() == Method::DELETE;
    let response = next.run(request).await;
    if ends && response.status() == StatusCode::NOT_FOUND {
        return response;
    }
    if let Some(Refusal { error, kind }) = response.extensions().get() {
        let error = || error.chars().take(MAX_WRITTEN).collect();
        let status = response.status().as_u16();
        app.hub.refusals().request((status, kind), error, from);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_somebody_else_can_have_lead_here_is_none_of_ours() {
        for own in [
            "localhost:8080",
            "LOCALHOST",
            "127.0.0.1:80",
            "[::1]:8080",
            "a.localhost.",
        ] {
            assert!(is_of_loopback(own), "{own}");
        }
        for foreign in [
            "evil.example:8080",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "",
        ] {
            assert!(!is_of_loopback(foreign), "{foreign}");
        }
    }
}
