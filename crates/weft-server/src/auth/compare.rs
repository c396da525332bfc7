//! Comparison of tokens in constant time.

use aws_lc_rs::{constant_time, digest};
use axum::http::{HeaderMap, header};

/// Hash of a token: the only form in which the server keeps one.
#[derive(Clone, Copy)]
pub(super) struct TokenHash(digest::Digest);

impl TokenHash {
    /// Octets of the hash.
    pub(super) fn octets(&self) -> &[u8] {
        self.0.as_ref()
    }

    pub(super) fn of(token: &str) -> TokenHash {
        TokenHash(digest::digest(&digest::SHA256, token.as_bytes()))
    }

    /// Compares hashes, so that the time reveals neither content nor length.
    pub(super) fn is_of(self, given: &str) -> bool {
        let given = TokenHash::of(given);
        constant_time::verify_slices_are_equal(self.0.as_ref(), given.0.as_ref()).is_ok()
    }
}

/// Bearer token of a request.
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers
        .get(header::AUTHORIZATION)?
        .to_str()
        .ok()?
        .split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
