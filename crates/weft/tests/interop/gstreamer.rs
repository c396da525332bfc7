//! GStreamer's webrtcbin with its defaults: an RSA certificate, no RTX, handshake
//! messages in fragments of 256 bytes.

use super::room::Room;
use super::{H264, VP8, has, player, plays, publishes};

/// Debian's Python, which has Debian's bindings.
const CLIENT: [&str; 2] = ["/usr/bin/python3", "gstreamer/main.py"];

fn is_installed() -> bool {
    let elements = "webrtcbin vp8enc openh264enc opusenc nicesrc rtpvp8pay h264parse dtlsenc";
    let test = format!(
        "import gi; gi.require_version('GstWebRTC', '1.0'); from gi.repository import Gst, GstWebRTC; \
         Gst.init(None); exit(not all(map(Gst.ElementFactory.find, '{elements}'.split())))"
    );
    has(
        "GStreamer with webrtcbin and PyGObject",
        &[CLIENT[0], "-c", &test],
    )
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
