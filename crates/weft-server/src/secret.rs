//! What nobody can guess, and how participants prove who they are.

use aws_lc_rs::{digest, rand};
use axum::http::HeaderMap;
use weft_rooms::Proof;

/// The header with which a participant proves to be who they were before: in
/// the address it would stand in the logs of proxies.
pub(crate) const SECRET: &str = "weft-secret";

/// The proof that a participant's secret is. What is compared is its hash, so
/// that the time which that takes tells nothing of the secret.
pub(crate) fn proof_of(secret: &str) -> Proof {
    let mut proof = [0; 32];
    proof.copy_from_slice(digest::digest(&digest::SHA256, secret.as_bytes()).as_ref());
    Proof(proof)
}

/// The secret that comes with a request.
pub(crate) fn secret_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(SECRET)?.to_str().ok()
}

/// 128 random bits in hexadecimal: a token, a secret, a name that nobody finds.
///
/// # Panics
/// If the system's random generator fails.
#[must_use]
pub fn unguessable() -> String {
    let mut bytes = [0; 16];
    rand::fill(&mut bytes).expect("the system's random generator works");
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
