use super::room::Room;
use super::{VP8, plays, plays_from, publishes, publishes_to};

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

#[test]
fn chromium_publishes_over_tcp() {
    if is_installed() {
        publishes_to(Room::with_tcp_only(), &CLIENT, true);
    }
}

#[test]
fn chromium_plays_over_tcp() {
    if is_installed() {
        plays_from(Room::with_tcp_only(), &CLIENT, VP8, true);
    }
}
