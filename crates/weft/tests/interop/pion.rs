//! Pion has no codecs: it sends frames with arbitrary content, and counts the
//! frames that it can reassemble.

use super::{VP8, plays, publishes};

/// Built by `scripts/setup --tests`.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/pion/pion");

fn is_installed() -> bool {
    super::has("Pion", &["test", "-x", PROGRAM])
}

#[test]
fn pion_publishes_vp8() {
    if is_installed() {
        publishes(&[PROGRAM], false);
    }
}

#[test]
fn pion_plays_vp8() {
    if is_installed() {
        plays(&[PROGRAM], VP8, false);
    }
}
