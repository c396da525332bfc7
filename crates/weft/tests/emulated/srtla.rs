//! A stream over SRTLA, with BELABOX's programs.

use std::io::Write as _;

use weft_testing::{skipped, where_the_machine_keeps_up};

use super::{BUSY, can_emulate, has, parsed, value, weft};

/// Neither link carries the stream alone.
const TWO_LINKS: &str = r#"
title = "A stream over two links"
duration = "25s"
measure-from = "12s"
systems = ["weft"]
metrics = ["throughput_mbps", "fps", "e2e_ms_mean"]
links.a = "rate=3mbit,delay=30ms,queue=300ms"
links.b = "rate=3mbit,delay=20ms,queue=300ms"
[flows.call]
kind = "call"
resolution = "360p"
max-rate = "4mbit"
"#;

const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../clients/srtla/bin");

#[test]
fn srtla_bonds_two_links_and_holds_the_stream_for_its_latency() {
    where_the_machine_keeps_up(|| {
        if !can_emulate() || !has("node") || !has("ffmpeg") {
            return;
        }
        if !std::path::Path::new(PROGRAMS).exists() {
            return skipped("no programs of SRTLA; `clients/srtla/build` builds them");
        }
        let mut file = tempfile::NamedTempFile::with_suffix(".toml").expect("a file");
        file.write_all(TWO_LINKS.as_bytes())
            .expect("a file of ours");
        let path = file.path().display().to_string();
        let emulated = ["--engine", "emu", "--client", "srtla-500ms"];
        let one = ["--seeds", "1", BUSY, "--json"];
        let ran = weft(&[&[path.as_str()][..], &emulated, &one].concat(), &[]);
        assert_eq!(ran.status, Some(0), "{}", ran.errors);
        let summary = parsed(&ran);
        let rate = value(&summary, "throughput_mbps");
        assert!((3.3..4.8).contains(&rate), "{rate} Mbit/s over 3 + 3");
        let fps = value(&summary, "fps");
        assert!((25.0..31.0).contains(&fps), "{fps} pictures a second");
        let latency = value(&summary, "e2e_ms_mean");
        assert!((500.0..1000.0).contains(&latency), "{latency} ms");
        let notes = summary["notes"].to_string();
        assert!(notes.contains("latency-ms 500"), "{notes}");
    });
}
