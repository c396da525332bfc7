use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use super::periods::MAX_SECONDS;
use super::*;
use crate::engine::tracing::Tracing;
use crate::output::{Conditions, ImportOutputError, write_recordings};
use crate::run;
use crate::scenario::Scenario;

mod bad;
mod beside;
mod formats;

const CALL: &str = r#"
title = "A call over two links, one of which fails"
duration = "12s"
seeds = 1
systems = ["weft"]

[links.wifi]
spec = "rate=3mbit,delay=15ms,queue=200ms,loss=3%"

[links.lte]
spec = "rate=2mbit,delay=40ms,queue=200ms,loss=1%"

[flows.call]
kind = "call"
max-rate = "2mbit"
"#;

/// Metrics of a simulated call, and the folder of its traces.
struct Simulated {
    folder: tempfile::TempDir,
    values: BTreeMap<String, f64>,
}

impl Simulated {
    fn new() -> Simulated {
        let folder = tempfile::tempdir().unwrap();
        let tracing = Tracing::new(Some(folder.path()), Some(folder.path())).unwrap();
        let scenario = Scenario::parse("t.toml", CALL, &[]).unwrap();
        let mut values = BTreeMap::new();
        let stop = AtomicBool::new(false);
        let ran = run::run(&scenario, &tracing, 1, &stop, |ended| {
            values.extend(ended.expect("it runs").values);
            Ok::<(), Infallible>(())
        });
        ran.unwrap();
        Simulated { folder, values }
    }

    fn file(&self, end: &str, extension: &str) -> PathBuf {
        self.folder
            .path()
            .join(format!("weft.seed1.call.{end}.{extension}"))
    }
}

/// Reads a file with one recording.
fn read_one(path: &Path) -> Recording {
    let mut found = read(path, "recorded", &[]).unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recordings")
        .join(name)
}

fn value(recording: &Recording, name: &str) -> f64 {
    let mut values = recording.values.iter();
    let found = values.find(|(known, _)| known == name);
    found
        .unwrap_or_else(|| panic!("{name} in {:?}", recording.values))
        .1
}

fn has(recording: &Recording, name: &str) -> bool {
    recording.values.iter().any(|(known, _)| known == name)
}

#[track_caller]
fn assert_near(here: f64, there: f64, share: f64) {
    let difference = (here - there).abs();
    assert!(
        difference <= share * there.abs() + 1e-9,
        "{here} and {there}"
    );
}

#[test]
fn a_sampled_rate_keeps_its_sum() {
    let span = |from, until, value| track::Span { from, until, value };
    let spans = vec![span(0.0, 1.0, 4.0), span(1.5, 2.0, 2.0)];
    let track = Track::new(("rate_mbps", "Mbit/s"), Owner::Call, spans).unwrap();
    // Four megabits and one, in periods of 0.4 s: the gap has no value.
    let sampled = track.sampled(5, 0.4);
    assert_eq!(sampled[0], Some(4.0));
    assert_eq!(sampled[2], Some(4.0));
    assert_near(sampled[3].unwrap(), 2.0, 1e-9);
    assert_near(track.mean().unwrap(), 5.0 / 1.5, 1e-9);
    let gaps = Track::new(("rtt_ms", "ms"), Owner::Call, vec![span(3.0, 4.0, 7.0)]);
    assert_eq!(
        gaps.unwrap().sampled(5, 1.0),
        [None, None, None, Some(7.0), None]
    );
}

#[test]
fn a_counter_that_falls_was_restarted() {
    let samples = [(0.0, 10.0), (1.0, 30.0), (3.0, 5.0), (4.0, 6.0)];
    let rates: Vec<f64> = track::growth(&samples)
        .iter()
        .map(|span| span.value)
        .collect();
    assert_eq!(rates, [20.0, 1.0]);
    let held = track::held(&samples, 1.5);
    let times: Vec<(f64, f64)> = held.iter().map(|span| (span.from, span.until)).collect();
    assert_eq!(times, [(0.0, 1.0), (1.5, 3.0), (3.0, 4.0)]);
}
