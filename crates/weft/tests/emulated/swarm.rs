//! BitTorrent beside a call.

use std::io::Write as _;

use weft_testing::where_the_machine_keeps_up;

use super::{BUSY, can_emulate, has, is_there, parsed, value, weft};

/// Upload in the middle of the run, replaced by a swarm.
const UPLOADS: &str = r#"
title = "Five uploads"
duration = "14s"
sections = ["2s", "7s", "10s", "12s"]
systems = ["tcp"]
metrics = ["throughput_mbps#1", "throughput_mbps#3", "throughput_mbps#5"]
[links.line]
rate = "2mbit"
delay = "10ms"
queue = "40kB"
[flows.uploads]
kind = "tcp"
algorithm = "reno"
connections = 5
start = "2s"
stop = "10s"
[system.tcp]
"#;

#[test]
fn a_swarm_sends_while_its_flow_lasts() {
    where_the_machine_keeps_up(|| {
        if !can_emulate() || !has("node") || !is_there("rtorrent", "make setup-clients") {
            return;
        }
        let mut file = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
        file.write_all(UPLOADS.as_bytes()).expect("a file of ours");
        let path = file.path().display().to_string();
        let client = "weft,uploads=swarm";
        let emulated = ["--engine", "emu", "--client", client, "--seeds", "1"];
        let ran = weft(
            &[&[path.as_str()][..], &emulated, &[BUSY, "--json"]].concat(),
            &[],
        );
        assert_eq!(ran.status, Some(0), "{}", ran.errors);
        let summary = parsed(&ran);
        // The client reads the file before sending, and leaves without notifying its
        // peers.
        assert!(value(&summary, "throughput_mbps#1") < 0.01);
        let full = value(&summary, "throughput_mbps#3");
        assert!((1.8..2.05).contains(&full), "{full} of 2 Mbit/s");
        assert!(value(&summary, "throughput_mbps#5") < 0.05);
        let notes = summary["notes"].to_string();
        assert!(notes.contains("client swarm, peers 5"), "{notes}");
    });
}
