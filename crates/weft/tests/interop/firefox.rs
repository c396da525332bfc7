use super::{VP8, plays, publishes};

const CLIENT: [&str; 3] = ["node", "firefox/main.mjs", "--sound"];

fn is_installed() -> bool {
    super::has("Node", &["node", "--version"])
}

#[test]
fn firefox_publishes_vp8() {
    if is_installed() {
        publishes(&CLIENT, true);
    }
}

#[test]
fn firefox_plays_vp8() {
    if is_installed() {
        plays(&CLIENT, VP8, true);
    }
}
