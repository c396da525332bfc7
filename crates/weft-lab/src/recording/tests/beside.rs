//! Recordings in a report.

use std::fs;

use serde_json::Value as Json;

use super::*;
use crate::engine::sim::Simulator;
use crate::outcome::Outcome;
use crate::output::Folder;

fn report(folder: &Path) -> Json {
    let text = fs::read_to_string(folder.join("report.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Writes the results of the scenario into a folder.
fn results(folder: &Path) {
    let scenario = Scenario::parse("t.toml", CALL, &[]).unwrap();
    let out = Folder::create(folder).unwrap();
    let mut outcome = Outcome::new(&scenario);
    let ran = run::run(&scenario, &Simulator, 1, &AtomicBool::new(false), |ended| {
        outcome.add(ended.expect("it runs"));
        Ok::<(), Infallible>(())
    });
    ran.unwrap();
    out.write_outcome(&outcome, &Conditions::default()).unwrap();
}

#[test]
fn recordings_are_further_systems_of_a_report() {
    let simulated = Simulated::new();
    let [old, new] = ["old", "new"].map(|name| simulated.folder.path().join(name));
    results(&old);
    let before = report(&old);
    let found = read(&fixture("webrtc-internals.gz"), "train", &[]).unwrap();
    write_recordings(&found, &Conditions::default(), Some(&old), &new).unwrap();
    assert_eq!(report(&old), before);
    let after = report(&new);
    let names: Vec<&str> = after["systems"]
        .as_array()
        .unwrap()
        .iter()
        .map(|system| system["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["weft", "train 9-1", "train 9-2"]);
    assert_eq!(after["values"]["weft"], before["values"]["weft"]);
    assert_near(
        after["values"]["train 9-2"]["freeze_s"][0]
            .as_f64()
            .unwrap(),
        1.55,
        1e-9,
    );
    // The same period, and the flow's name in the report.
    let [weft, train] = ["weft", "train 9-2"].map(|name| &after["series"][name]);
    assert_eq!(weft["t"][0], train["t"][0]);
    let columns = train["columns"].as_array().unwrap();
    let rate = columns
        .iter()
        .find(|column| column["name"] == "rate_mbps")
        .unwrap();
    assert_eq!(rate["of"], "call");
    assert_eq!(
        rate["values"].as_array().unwrap().len(),
        train["t"].as_array().unwrap().len()
    );
    let metrics = after["metrics"].as_array().unwrap();
    let places = metrics
        .iter()
        .map(|m| crate::measure::metrics::position(m["name"].as_str().unwrap()));
    assert!(places.is_sorted());
    assert_eq!(after["recordings"].as_array().unwrap().len(), 2);
    let page = fs::read_to_string(new.join("report.html")).unwrap();
    assert!(page.contains("train 9-2"));
    // Again into the same folder, but never over results.
    write_recordings(&found, &Conditions::default(), Some(&old), &new).unwrap();
    let error = write_recordings(&found, &Conditions::default(), Some(&old), &old).unwrap_err();
    assert!(matches!(error, ImportOutputError::HasResults(_)), "{error}");
    assert_eq!(report(&old), before);
}

#[test]
fn recordings_alone_are_a_report() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = read(&fixture("webrtc-internals.gz"), "train", &[]).unwrap();
    found.extend(read(&fixture("ping.flent.gz"), "ping", &[]).unwrap());
    write_recordings(&found, &Conditions::default(), None, folder.path()).unwrap();
    let data = report(folder.path());
    assert_eq!(
        (&data["schema"], &data["engine"]),
        (&1.into(), &"recording".into())
    );
    let flows = data["scenario"]["flows"].as_array().unwrap();
    let names: Vec<&str> = flows
        .iter()
        .map(|flow| flow["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["call", "Ping (ms) ICMP", "Ping (ms) UDP"]);
    // As fine as the finest file.
    assert_eq!(data["series"]["ping"]["t"][0], 0.2);
    crate::output::rewrite_report(folder.path()).unwrap();
}

#[test]
fn a_day_beside_a_short_run_has_few_rows() {
    let simulated = Simulated::new();
    let [old, new] = ["old", "new"].map(|name| simulated.folder.path().join(name));
    results(&old);
    let mut found = read(&fixture("ping.flent.gz"), "day", &[]).unwrap();
    found[0].seconds = 86_400.0;
    write_recordings(&found, &Conditions::default(), Some(&old), &new).unwrap();
    let after = report(&new);
    let times = |name: &str| after["series"][name]["t"].as_array().unwrap().clone();
    assert_eq!(
        times("weft"),
        report(&old)["series"]["weft"]["t"].as_array().unwrap()[..]
    );
    let day = times("day");
    assert!((1_500..=3_000).contains(&day.len()), "{} rows", day.len());
    assert!(day.last().unwrap().as_f64().unwrap() >= 86_400.0);
    // A multiple of the run's step, so that their times meet.
    let steps = day[0].as_f64().unwrap() / times("weft")[0].as_f64().unwrap();
    assert!((steps - steps.round()).abs() < 1e-6, "{steps}");
}

#[test]
fn a_name_may_not_be_taken() {
    let simulated = Simulated::new();
    let old = simulated.folder.path().join("old");
    results(&old);
    let found = read(&fixture("ping.flent.gz"), "weft", &[]).unwrap();
    let new = simulated.folder.path().join("new");
    let error = write_recordings(&found, &Conditions::default(), Some(&old), &new).unwrap_err();
    assert!(error.to_string().contains("two systems `weft`"), "{error}");
    assert!(!new.exists());
    let twice = [found.clone(), found].concat();
    let error = write_recordings(&twice, &Conditions::default(), None, &new).unwrap_err();
    assert!(error.to_string().contains("NAME=FILE"), "{error}");
}
