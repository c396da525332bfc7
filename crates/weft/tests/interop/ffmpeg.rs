//! The WHIP muxer of ffmpeg 9. It has no player for WebRTC.

use std::process::{Command, Stdio};

use super::client::Client;
use super::fixture::Program;
use super::has;
use super::room::{Room, sees};

/// Python with a build of ffmpeg from PyPI, installed by `scripts/setup
/// --tests`: Debian's ffmpeg is too old for WHIP.
const PYTHON: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../.tools/ffmpeg/bin/python"
);

pub(crate) fn program() -> Option<String> {
    let ask = "import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())";
    if !has("ffmpeg with WHIP", &[PYTHON, "-c", ask]) {
        return None;
    }
    let output = Command::new(PYTHON).args(["-c", ask]).output();
    let path = String::from_utf8(output.expect("it ran before").stdout);
    Some(path.expect("text").trim_end().to_owned())
}

fn publish(room: &Room, program: &str, video: &[&str], url: String) -> Program {
    let mut ffmpeg = room.command(program);
    ffmpeg.args(["-hide_banner", "-loglevel", "warning", "-re"]);
    ffmpeg.args(["-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30"]);
    ffmpeg.args(["-f", "lavfi", "-i", "sine=sample_rate=48000"]);
    ffmpeg.args(video).args(["-c:a", "libopus", "-ac", "2"]);
    ffmpeg.args(["-f", "whip"]).arg(url).stdout(Stdio::null());
    Program::start(&mut ffmpeg)
}

fn publishes(video: &[&str]) {
    let Some((program, room)) = program().and_then(|p| Some((p, Room::open()?))) else {
        return;
    };
    let url = room.url("/whip/matrix?name=ffmpeg");
    let _publisher = publish(&room, &program, video, url);
    // x264's default profile is high, which `weft join` does not decode;
    // Chromium decodes every profile tested here.
    let player = Client::start(&room, &["node", "chromium/main.mjs", "--sound"]);
    let Some(mut player) = player else {
        return;
    };
    player.exchange(&room, "/whep/matrix/ffmpeg?name=Foreign");
    player.sees(true);
}

const BASELINE: &str = "-c:v libx264 -profile:v baseline -pix_fmt yuv420p -preset ultrafast \
                        -tune zerolatency -g 60";

#[test]
fn ffmpeg_publishes_h264_baseline() {
    publishes(&BASELINE.split_whitespace().collect::<Vec<&str>>());
}

#[test]
fn ffmpeg_publishes_through_a_relay() {
    let Some((program, room)) = program().and_then(|p| Some((p, Room::open()?))) else {
        return;
    };
    let watcher = room.watch();
    let _relay = room.relay();
    let video: Vec<&str> = BASELINE.split_whitespace().collect();
    let url = "http://127.0.0.1:8080/whip/live".to_owned();
    let _publisher = publish(&room, &program, &video, url);
    sees(&watcher, true);
}
