//! aiortc refuses answers with a section that lacks ICE credentials.

use crate::room::Room;
use std::path::Path;
use std::process::Command;
use weft_testing::skipped;

#[test]
fn aiortc_plays_participants_with_sound_alone_or_a_picture_alone() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = here.join("../../clients/aiortc/venv/bin/python");
    if !python.exists() {
        skipped("no aiortc: `scripts/setup --tests` installs it");
        return;
    }
    let room = Room::open();
    let script = here.join("tests/forwarding/play_one_kind.py");
    let mut command = Command::new(python);
    let output = command.arg(script).arg(room.port().to_string()).output();
    let output = output.expect("Python runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    let came: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{errors}"));
    for (kind, other) in [("audio", "video"), ("video", "audio")] {
        let frames = came[kind][kind].as_u64().unwrap_or_default();
        assert!(frames >= 20, "{kind}: {came} {errors}");
        assert!(came[kind][other].is_null(), "{kind}: {came}");
    }
}
