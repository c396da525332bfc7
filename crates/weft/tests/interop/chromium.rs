use super::{VP8, plays, publishes};

const CLIENT: [&str; 3] = ["node", "chromium/main.mjs", "--sound"];

fn is_installed() -> bool {
    super::has("Node", &["node", "--version"])
}

#[test]
fn chromium_publishes_vp8() {
    if is_installed() {
        publishes(&CLIENT, true);
    }
}

#[test]
fn chromium_plays_vp8() {
    if is_installed() {
        plays(&CLIENT, VP8, true);
    }
}
