//! Two namespaces with two links between them, on which packets can be lost.

use serde_json::Value;

use super::fixture::{self, Namespace, Program, cable};
use super::has;

/// Links of the sender.
pub(crate) const LINKS: [&str; 2] = ["one", "two"];
/// Address of the server on the first link.
pub(crate) const SERVER: &str = "10.1.0.1";

/// Lost datagrams per thousand, and the seconds for which the picture is watched.
pub(crate) const LOSS: u32 = 30;
pub(crate) const WATCHED: f64 = 20.0;
/// Maximum freeze time within these seconds; gaps of more than 200 ms count.
pub(crate) const MOST_IN_GAPS: f64 = 2.0;
/// Lossless link of a viewer beside the sender.
const VIEWER: &str = "three";
/// The viewer's picture in `--stats`.
const CAMERA: &str = "/received/stream/cameras/0";

pub(crate) struct Links {
    pub server_side: Namespace,
    pub sender_side: Namespace,
}

impl Links {
    /// Creates the links. `None`, with a printed reason, without permission to create
    /// namespaces.
    pub(crate) fn open() -> Option<Links> {
        let (server_side, sender_side) = fixture::pair()?;
        for (number, link) in (1..).zip(LINKS) {
            let ends = [1, 2].map(|end| format!("10.{number}.0.{end}"));
            cable(&server_side, &sender_side, link, [&ends[0], &ends[1]]);
        }
        Some(Links {
            server_side,
            sender_side,
        })
    }

    /// Whether packets can be lost on this machine; reports the test as skipped
    /// otherwise.
    pub(crate) fn can_lose() -> bool {
        has("nftables", &["sh", "-c", "command -v nft"])
    }

    /// Drops [`LOSS`] of a thousand datagrams to the server from now on.
    pub(crate) fn lose(&self) {
        let drop = format!("meta l4proto udp numgen random mod 1000 < {LOSS} drop");
        let rules = LINKS
            .map(|link| format!("iifname s{link} {drop}"))
            .join("; ");
        let hook = "type filter hook prerouting priority -300";
        let table = format!("table ip loss {{ chain in {{ {hook}; {rules}; }}; }}");
        let status = self.server_side.command("nft").arg(table).status();
        assert!(status.expect("nft runs").success());
    }

    /// Adds the link of a viewer beside the sender.
    pub(crate) fn add_viewer(&self) {
        let ends = ["10.3.0.1", "10.3.0.2"];
        cable(&self.server_side, &self.sender_side, VIEWER, ends);
    }

    /// Plays from a WHEP server on this port beside the sender; fails if the picture freezes
    /// for more than [`MOST_IN_GAPS`].
    pub(crate) fn watch(&self, port: &str) {
        let mut play = self.sender_side.command(env!("CARGO_BIN_EXE_weft"));
        play.args(["play", &format!("http://127.0.0.1:{port}/")]);
        play.args(["--link", VIEWER, "--stats", "/dev/stdout"]);
        let viewer = Program::start(&mut play);
        let frozen = |figures: &Value| figures.pointer(CAMERA)?["freeze_s"].as_f64();
        let frames = |figures: &Value| figures["received"]["stream"]["frames"].as_u64();
        let first = viewer.shows("frames", |figures| frames(figures) > Some(60));
        let until = fixture::time(&first) + WATCHED;
        let last = viewer.shows("a line", |figures| fixture::time(figures) >= until);
        let gaps = frozen(&last).expect("a camera") - frozen(&first).expect("a camera");
        let more = frames(&last)
            .zip(frames(&first))
            .map(|(now, then)| now - then);
        println!("{more:?} pictures, {gaps:.1} s in gaps within {WATCHED} s");
        assert!(gaps <= MOST_IN_GAPS, "{gaps} s");
    }
}
