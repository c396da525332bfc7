//! Redirects of newcomers to another server of the cluster (docs/operate/cluster.md).

use super::App;
use crate::auth::{May, RequiredAccess};
use crate::hub::{Arrival, Target};
use crate::origin::{Peer, address_of};
use crate::urls::escaped;
use axum::http::header::{CACHE_CONTROL, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

/// Header of a redirect with the name of the target server: clients follow no other
/// redirect to a foreign host.
const NODE: &str = "weft-node";
/// Parameter of a redirected request: it stays on the server that it has reached.
const STAY: &str = "stay";

/// Returns the redirect for an arrival who belongs on another server.
pub(super) fn redirect(app: &App, who: &Arrival<'_>, uri: &Uri) -> Option<Response> {
    if stays(uri) {
        return None;
    }
    let target = app.hub.target_of(who)?;
    response(&target, uri, None)
}

/// Returns the redirect for a visitor of a room's page who belongs on another server. A
/// token that this server has in a cookie is added to the URL, as in an invitation.
pub(super) async fn redirect_page(
    app: &App,
    peer: &Peer,
    (room, uri): (&str, &Uri),
    headers: &HeaderMap,
) -> Option<Response> {
    if stays(uri) {
        return None;
    }
    let room = room.to_lowercase();
    let target = app.hub.target_for(&room)?;
    let asker = (app.hub.now(), address_of(peer, headers));
    let wanted = RequiredAccess::In(&room, May::Watch);
    let token = app.gate.valid_cookie(asker, headers, wanted).await;
    let has_token = pairs(uri).any(|pair| pair.starts_with("token="));
    response(&target, uri, token.filter(|_| !has_token).as_deref())
}

fn pairs(uri: &Uri) -> impl Iterator<Item = &str> {
    let query = uri.query().unwrap_or_default();
    query.split('&').filter(|pair| !pair.is_empty())
}

fn stays(uri: &Uri) -> bool {
    pairs(uri).any(|pair| pair == STAY || pair.starts_with("stay="))
}

fn response(target: &Target, uri: &Uri, token: Option<&str>) -> Option<Response> {
    let mut query: Vec<String> = pairs(uri).map(str::to_owned).collect();
    query.extend(token.map(|token| format!("token={}", escaped(token))));
    query.push(STAY.to_owned());
    let location = format!("{}{}?{}", target.url, uri.path(), query.join("&"));
    let headers = [
        (LOCATION.as_str(), HeaderValue::from_str(&location).ok()?),
        (NODE, HeaderValue::from_str(&target.node).ok()?),
        (CACHE_CONTROL.as_str(), HeaderValue::from_static("no-store")),
    ];
    Some((StatusCode::TEMPORARY_REDIRECT, headers).into_response())
}
