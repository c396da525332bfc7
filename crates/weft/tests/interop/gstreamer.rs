//! GStreamer's webrtcbin with its defaults: an RSA certificate, no RTX, handshake
//! messages in fragments of 256 bytes.

use super::client::Client;
use super::room::Room;
use super::{H264, SIZE, VP8, has, player, plays, publishes};
use std::process::Command;
use weft_testing::skipped;

/// Debian's Python, which has Debian's bindings.
const CLIENT: [&str; 2] = ["/usr/bin/python3", "gstreamer/main.py"];

fn is_installed() -> bool {
    let elements = "webrtcbin vp8enc openh264enc opusenc nicesrc rtpvp8pay h264parse dtlsenc";
    has(
        "GStreamer with webrtcbin and PyGObject",
        &[CLIENT[0], "-c", &needs(elements)],
    )
}

/// Program that fails if one of these elements is missing.
fn needs(elements: &str) -> String {
    format!(
        "import gi; gi.require_version('GstWebRTC', '1.0'); from gi.repository import Gst, GstWebRTC; \
         Gst.init(None); exit(not all(map(Gst.ElementFactory.find, '{elements}'.split())))"
    )
}

/// Publishes with one GStreamer and plays with another: weft itself does not decode the codec.
fn passes(codec: &'static str, elements: &str) {
    let mut test = Command::new(CLIENT[0]);
    let has = test.args(["-c", &needs(elements)]).status();
    if !has.is_ok_and(|status| status.success()) {
        // Debian 12 packages none of the plugins that are written in Rust.
        skipped(format!("GStreamer lacks one of {elements}"));
        return;
    }
    let Some(room) = Room::open() else {
        return;
    };
    let publisher = [&client(codec)[..], &["--send"], &SIZE].concat();
    let Some(mut publisher) = Client::start(&room, &publisher) else {
        return;
    };
    publisher.exchange(&room, "/whip/matrix?name=Rover");
    publisher.connects();
    if let Some(player) = player(&room, &client(codec)) {
        player.sees(true);
    }
}

#[test]
fn gstreamer_publishes_vp9_and_plays_it() {
    if is_installed() {
        passes("vp9", "vp9enc vp9dec rtpvp9pay rtpvp9depay");
    }
}

#[test]
fn gstreamer_publishes_av1_and_plays_it() {
    if is_installed() {
        passes("av1", "av1enc av1dec av1parse rtpav1pay rtpav1depay");
    }
}

fn client(codec: &'static str) -> Vec<&'static str> {
    [&CLIENT[..], &["--sound", "--codec", codec]].concat()
}

#[test]
fn gstreamer_publishes_vp8() {
    if is_installed() {
        publishes(&client(VP8), true);
    }
}

#[test]
fn gstreamer_publishes_h264() {
    if is_installed() {
        publishes(&client(H264), true);
    }
}

#[test]
fn gstreamer_plays_vp8() {
    if is_installed() {
        plays(&client(VP8), VP8, true);
    }
}

#[test]
fn gstreamer_plays_h264() {
    if is_installed() {
        plays(&client(H264), H264, true);
    }
}

/// Applications that give webrtcbin no parameters list only `H264/90000`, which means mode
/// 0.
#[test]
fn gstreamer_plays_h264_that_it_lists_without_parameters() {
    if is_installed() {
        plays(&[&client(H264)[..], &["--bare"]].concat(), H264, true);
    }
}

/// The section without media is inactive and not rejected: webrtcbin uses the first
/// section's transport for all.
#[test]
fn gstreamer_plays_participants_without_sound_or_without_pictures() {
    if !is_installed() {
        return;
    }
    for has_pictures in [true, false] {
        let Some(room) = Room::open() else {
            return;
        };
        let _publisher = match has_pictures {
            true => room.publish_pictures(VP8),
            false => room.publish_sound(),
        };
        let Some(player) = player(&room, &client(VP8)) else {
            return;
        };
        match has_pictures {
            true => player.sees(false),
            false => player.hears(),
        }
    }
}
