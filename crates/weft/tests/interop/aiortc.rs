use super::{VP8, plays, publishes};

const PYTHON: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../clients/aiortc/venv/bin/python"
);
/// The client has no microphone, and requests only video.
const CLIENT: [&str; 2] = [PYTHON, "aiortc/main.py"];

fn is_installed() -> bool {
    super::has("aiortc", &[PYTHON, "-c", "import aiortc"])
}

#[test]
fn aiortc_publishes_vp8() {
    if is_installed() {
        publishes(&CLIENT, false);
    }
}

#[test]
fn aiortc_plays_vp8() {
    if is_installed() {
        plays(&CLIENT, VP8, false);
    }
}
