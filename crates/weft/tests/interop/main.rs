//! Interoperability matrix: external programs publish to `weft serve` and play from it.
//! Each runs as its users would run it. Pictures and sound are counted at the receiver:
//! by `weft join` in the same room for a publisher, and by the program itself for a
//! player. Server and program are in separate network namespaces with a cable between
//! them, because Firefox gathers no candidates on loopback.
//!
//! Each program has a file. `clients/` has the programs' ends of a call, which the lab
//! also uses. `docs/protocol/interop.md` has the table.

mod aiortc;
mod chromium;
mod client;
mod ffmpeg;
mod firefox;
#[path = "../join/fixture.rs"]
#[allow(dead_code, reason = "the tests of links use more of it")]
mod fixture;
mod galene;
mod gstreamer;
mod janus;
mod lossy;
mod mediamtx;
mod pion;
mod room;
mod script;

use client::Client;
use room::Room;
use std::process::Command;
use weft_testing::skipped;

/// Size and rate of pictures that two cores encode easily.
const SIZE: [&str; 4] = ["--size", "320x240", "--fps", "30"];

/// Codecs of the sender in the room.
const VP8: &str = "vp8";
const H264: &str = "h264";

/// Publishes with a client from `clients/`, and counts the media in the room.
fn publishes(client: &[&str], sound: bool) {
    publishes_to(Room::open(), client, sound);
}

fn publishes_to(room: Option<Room>, client: &[&str], sound: bool) {
    let Some(room) = room else {
        return;
    };
    let watcher = room.watch();
    let publisher = Client::start(&room, &[client, &["--send"], &SIZE].concat());
    let Some(mut publisher) = publisher else {
        return;
    };
    publisher.exchange(&room, "/whip/matrix?name=Foreign");
    room::sees(&watcher, sound);
}

/// Plays the publication of `weft join` in this codec, and counts the media in the
/// client.
fn plays(client: &[&str], codec: &str, sound: bool) {
    plays_from(Room::open(), client, codec, sound);
}

fn plays_from(room: Option<Room>, client: &[&str], codec: &str, sound: bool) {
    let Some(room) = room else {
        return;
    };
    let _publisher = room.publish(codec);
    if let Some(player) = player(&room, client) {
        player.sees(sound);
    }
}

/// Starts a client from `clients/` that plays "Rover".
fn player(room: &Room, client: &[&str]) -> Option<Client> {
    let mut player = Client::start(room, client)?;
    player.exchange(room, "/whep/matrix/Rover?name=Foreign");
    Some(player)
}

/// Whether the command succeeds; reports the test as skipped otherwise.
fn has(what: &str, command: &[&str]) -> bool {
    let mut test = Command::new(command[0]);
    let output = test.args(&command[1..]).output();
    let has = output.is_ok_and(|output| output.status.success());
    if !has {
        skipped(format!("{what}: `scripts/setup --tests` installs it"));
    }
    has
}
