//! MediaMTX, to which `weft publish` publishes. It requests lost packets, but does not
//! support RTX. ffmpeg reads the stream from it by RTSP.

use std::process::Stdio;
use std::time::{Duration, Instant};

use weft_testing::where_the_machine_keeps_up;

use super::fixture::{PATIENCE, Program};
use super::lossy::{LINKS, Links, MOST_IN_GAPS, SERVER, WATCHED};
use super::{ffmpeg, has};

/// Built by `scripts/setup --tests`.
const PROGRAM: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../clients/mediamtx/mediamtx"
);
/// Lets everyone publish anything, like the configuration file shipped with it.
const PATHS: &str = "paths:\n  all_others:\n";
/// Time without a picture that counts as a gap.
const GAP: Duration = Duration::from_millis(200);

#[test]
fn mediamtx_passes_on_a_picture_that_lost_packets_on_the_way_to_it() {
    if has("MediaMTX", &["test", "-x", PROGRAM]) && Links::can_lose() {
        where_the_machine_keeps_up(publish_with_losses);
    }
}

fn publish_with_losses() {
    let (Some(ffmpeg), Some(links)) = (ffmpeg::program(), Links::open()) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("mediamtx.yml"), PATHS).expect("it is written");
    let mut server = links.server_side.command(PROGRAM);
    let server = Program::start(server.current_dir(&folder));
    says(&server, "[WebRTC] started");
    let mut publish = links.sender_side.command(env!("CARGO_BIN_EXE_weft"));
    publish.args(["publish", &format!("http://{SERVER}:8889/live/whip")]);
    publish.args(["--camera", "clip:640x360", "--max-rate", "4mbit"]);
    publish.args(LINKS.iter().flat_map(|link| ["--link", *link]));
    let publisher = Program::start(&mut publish);
    publisher.says("connected");
    // It refuses readers until then.
    says(&server, "is publishing to path 'live'");
    let mut reader = links.server_side.command(&ffmpeg);
    reader.args(["-loglevel", "error", "-rtsp_transport", "tcp"]);
    reader.args(["-i", "rtsp://127.0.0.1:8554/live", "-map", "0:v"]);
    reader.args(["-f", "framecrc", "-flush_packets", "1", "-"]);
    let reader = Program::start(reader.stdin(Stdio::null()));
    // One line per picture.
    for _ in 0..60 {
        reader.told.recv_timeout(PATIENCE).expect("a picture");
    }
    links.lose();
    let began = Instant::now();
    let (mut last, mut gaps, mut pictures) = (began, Duration::ZERO, 0);
    while began.elapsed().as_secs_f64() < WATCHED {
        reader.told.recv_timeout(PATIENCE).expect("a picture");
        let gap = last.elapsed();
        last = Instant::now();
        pictures += 1;
        gaps += if gap > GAP { gap } else { Duration::ZERO };
    }
    println!("{pictures} pictures, {gaps:?} in gaps within {WATCHED} s");
    assert!(gaps.as_secs_f64() <= MOST_IN_GAPS, "{gaps:?}");
}

/// Waits for a line of the log with this text.
fn says(server: &Program, text: &str) {
    let began = Instant::now();
    loop {
        let line = server.told.recv_timeout(PATIENCE).expect("MediaMTX runs");
        if line.contains(text) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "MediaMTX never said `{text}`");
    }
}
