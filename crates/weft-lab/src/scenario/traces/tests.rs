use std::fs;
use std::path::Path;

use super::by_number;
use crate::scenario::Scenario;
use weft_links::{Capacity, WiredDirection};
use weft_units::{Instant, Rate};

const TEXT: &str = r#"
title = "A call over measured links"
duration = "20s"
systems = ["webrtc@wifi", "weft"]

[links.wifi]
trace = "*_wifi.csv"
delay = "10ms"

[links.lte]
spec = "trace=*_lte.csv,delay=30ms"

[flows.call]
kind = "call"
"#;

fn folder(traces: &[(&str, u32)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in traces {
        let text = format!("0,{bytes}\n1,{bytes}\n");
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read(folder: &Path, text: &str, set: &[&str]) -> Result<Scenario, String> {
    let file = folder.join("t.toml");
    fs::write(&file, text).unwrap();
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Scenario::read(&file, &set).map_err(|error| error.to_string())
}

fn rate(scenario: &Scenario, variant: usize, seed: u64, link: usize) -> Rate {
    let variant = &scenario.variants[variant];
    let setup = variant.traces.of(&variant.setup, seed);
    let there = setup.links[link]
        .medium
        .link(WiredDirection::Forward.station());
    let Capacity::Trace(trace) = &there.unwrap().capacity else {
        panic!("no trace");
    };
    trace.schedule().at(Instant::ZERO).0
}

/// The working directory of a test is the crate's folder.
#[test]
fn a_pattern_without_a_folder_is_of_the_working_directory() {
    let here = tempfile::Builder::new()
        .prefix("trace-")
        .suffix("_here.csv")
        .tempfile_in(".")
        .unwrap();
    fs::write(here.path(), "0,1000\n1,1000\n").unwrap();
    let text = TEXT.replace("*_wifi.csv", "trace-*_here.csv");
    let text = text.replace("trace=*_lte.csv", "rate=1mbit");
    // `weft lab compare` has no file; the others are a scenario file in this folder, and
    // one elsewhere.
    for file in ["weft lab compare", "t.toml", "./t.toml", "no/such/t.toml"] {
        let scenario = Scenario::parse(file, &text, &[]);
        let scenario = scenario.unwrap_or_else(|error| panic!("{file}: {error}"));
        assert_eq!(scenario.seeds, 1, "{file}");
    }
}

#[test]
fn each_seed_plays_the_next_trace_and_the_links_stay_in_step() {
    let folder = folder(&[
        ("11_wifi.csv", 11_000),
        ("7_wifi.csv", 7_000),
        ("11_lte.csv", 11_100),
        ("7_lte.csv", 7_100),
        ("7_lte.csv.bak", 1),
    ]);
    let scenario = read(folder.path(), TEXT, &[]).unwrap();
    assert_eq!(scenario.seeds, 2, "as many as there are traces");
    assert_eq!(
        scenario.variants[0].traces.names().collect::<Vec<_>>(),
        ["7", "11"]
    );
    for variant in [0, 1] {
        // 8 bits per byte; the third seed uses the first trace again.
        for (seed, wifi, lte) in [
            (1, 56_000, 56_800),
            (2, 88_000, 88_800),
            (3, 56_000, 56_800),
        ] {
            assert_eq!(rate(&scenario, variant, seed, 0), Rate::from_bps(wifi));
            assert_eq!(rate(&scenario, variant, seed, 1), Rate::from_bps(lte));
        }
    }
    assert_eq!(read(folder.path(), TEXT, &["seeds=9"]).unwrap().seeds, 9);
    let notes = scenario.notes();
    assert!(
        notes.len() == 2 && notes[0].contains("ends after 2 s"),
        "{notes:?}"
    );
    let brief = read(folder.path(), TEXT, &["duration=1s"]).unwrap();
    assert_eq!(brief.notes(), [""; 0]);
    let one = read(folder.path(), TEXT, &["links.lte.trace=7_lte.csv"]).unwrap();
    assert_eq!(
        rate(&one, 1, 2, 1),
        Rate::from_bps(56_800),
        "the same for all seeds"
    );
}

#[test]
fn input_that_does_not_fit_is_reported() {
    let folder = folder(&[
        ("7_wifi.csv", 7_000),
        ("8_wifi.csv", 8_000),
        ("7_lte.csv", 7_100),
    ]);
    let error = read(folder.path(), TEXT, &[]).unwrap_err();
    assert!(
        error.contains("`8`") && error.contains("`lte` has none"),
        "{error}"
    );
    let error = read(folder.path(), TEXT, &["links.lte.trace=*_5g.csv"]).unwrap_err();
    assert!(
        error.contains("*_5g.csv")
            && error.contains("no file in the folder of the scenario or this one"),
        "{error}"
    );
    let error = read(folder.path(), TEXT, &["links.lte.trace=away/*.csv"]).unwrap_err();
    assert!(error.contains("away/ cannot be listed"), "{error}");
    let error = read(folder.path(), TEXT, &["links.lte.trace=*/*.csv"]).unwrap_err();
    assert!(error.contains("one `*`"), "{error}");
}

#[test]
fn numbers_in_names_count_as_numbers() {
    let mut names = ["11_1", "7_10", "7_2", "a", "7"];
    names.sort_by(|a, b| by_number(a, b));
    assert_eq!(names, ["7", "7_2", "7_10", "11_1", "a"]);
}
