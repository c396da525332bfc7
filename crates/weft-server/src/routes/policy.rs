//! Content security policy of answers that are no page.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_SECURITY_POLICY;
use axum::response::Response;

/// Policy of data, errors, media and the page's files: opened in a browser, they load
/// nothing, run no script and are in no frame.
const DATA: &str = "default-src 'none'; frame-ancestors 'none'";

/// Adds the policy to an answer that has none of its own.
pub(super) async fn complete(mut response: Response) -> Response {
    let policy = response.headers_mut().entry(CONTENT_SECURITY_POLICY);
    policy.or_insert(HeaderValue::from_static(DATA));
    response
}
