//! GStreamer's webrtcbin with its defaults: an RSA certificate, no RTX, handshake
//! messages in fragments of 256 bytes.

use super::{H264, VP8, has, plays, publishes};

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
