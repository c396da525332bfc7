//! Random secrets, and proofs of identity of participants.

use aws_lc_rs::{digest, rand};
use axum::http::HeaderMap;
use weft_rooms::Proof;

/// Header with a participant's secret. In the URL, the secret would appear in
/// the logs of proxies.
pub(crate) const SECRET: &str = "weft-secret";

/// Proof of identity from a participant's secret. Comparing hashes reveals
/// nothing about the secret through timing.
pub(crate) fn proof_of(secret: &str) -> Proof {
    let mut proof = [0; 32];
    proof.copy_from_slice(digest::digest(&digest::SHA256, secret.as_bytes()).as_ref());
    Proof(proof)
}

/// Secret of a request.
pub(crate) fn secret_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SECRET)?.to_str().ok()
}

/// 128 random bits in hexadecimal: a token, a secret, an unpredictable name.
///
/// # Panics
/// If the system's random generator fails.
#[must_use]
pub fn unguessable() -> String {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).expect("the system's random generator works");
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
