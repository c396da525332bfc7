//! Galene, to which `weft publish` publishes as in docs/use/publish.md. It requests lost packets
//! but does not support RTX, and it reports no arrival times, so packets use one link at a time.
//! It has no WHEP server; `galene.mjs` adds one.

use std::fs;

use weft_testing::where_the_machine_keeps_up;

use super::fixture::Program;
use super::has;
use super::lossy::{LINKS, Links, SERVER};
use super::script::documented;

/// Built by `scripts/setup --tests`.
const PROGRAM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/galene/galene");
const WHEP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/galene.mjs");
/// Node 20 has a WebSocket only with this option.
const NODE: [&str; 2] = ["node", "--experimental-websocket"];
const VIEWER_PORT: &str = "8091";

#[test]
fn galene_passes_on_a_picture_that_lost_packets_on_the_way_to_it() {
    let node = [NODE[0], NODE[1], "-e", "WebSocket"];
    if has("Galene", &["test", "-x", PROGRAM]) && has("Node", &node) && Links::can_lose() {
        where_the_machine_keeps_up(publish_with_losses);
    }
}

fn publish_with_losses() {
    let Some(links) = Links::open() else {
        return;
    };
    links.add_viewer();
    let folder = tempfile::tempdir().expect("a folder");
    let groups = folder.path().join("groups");
    // Galene does not start without the folder of its page.
    for made in [&groups, &folder.path().join("static")] {
        fs::create_dir(made).expect("a folder");
    }
    let page = include_str!("../../../../docs/use/publish.md");
    let group = documented(page, r#"{"wildcard-user""#);
    fs::write(groups.join("live.json"), group).expect("it is written");
    let mut server = links.server_side.command(PROGRAM);
    server.args(["-insecure", "-http", ":8443", "-turn", ""]);
    let _server = Program::start(server.current_dir(&folder));
    let mut publish = links.sender_side.command(env!("CARGO_BIN_EXE_weft"));
    let url = format!("http://{SERVER}:8443/group/live/.whip");
    publish.args([
        "publish",
        &url,
        "--camera",
        "clip:640x360",
        "--max-rate",
        "4mbit",
    ]);
    publish.args(LINKS.iter().flat_map(|link| ["--link", *link]));
    let publisher = Program::start(&mut publish);
    publisher.says("connected");
    let mut whep = links.sender_side.command(NODE[0]);
    let socket = format!("ws://{SERVER}:8443/ws");
    let _whep = Program::start(whep.args([NODE[1], WHEP, &socket, "live", VIEWER_PORT]));
    links.lose();
    links.watch(VIEWER_PORT);
}
