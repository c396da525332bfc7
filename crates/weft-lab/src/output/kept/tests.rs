use std::sync::atomic::AtomicBool;

use super::*;
use crate::engine::sim::Simulator;
use crate::outcome::Outcome;
use crate::output::summary;

const TEXT: &str = r#"
title = "A call beside TCP"
duration = "3s"
seeds = 1
systems = ["weft"]
metrics = ["fps", "throughput_mbps", "harm.tcp"]

[links.line]
spec = "rate=3mbit,delay=15ms,queue=200ms"

[flows.call]
kind = "call"

[flows.tcp]
kind = "tcp"
"#;

#[test]
fn a_campaign_goes_on_with_the_same_results() {
    let scenario = Scenario::parse("t.toml", TEXT, &[]).unwrap();
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::keeping(place.path()).unwrap();
    assert!(folder.go_on("here").unwrap().is_empty());
    let mut before = Outcome::new(&scenario);
    let ran = crate::run::run(&scenario, &Simulator, 1, &AtomicBool::new(false), |ended| {
        let run = ended.expect("runs end well");
        folder.keep(&scenario, &run).map_err(|e| e.to_string())?;
        before.add(run);
        Ok::<(), String>(())
    });
    assert_eq!(ran, Ok(()));
    // What was being written when the program was killed is run again.
    std::fs::write(place.path().join("tasks/weft.seed2.json"), "{\"vari").unwrap();
    let mut after = Outcome::new(&scenario);
    let kept = folder.go_on("here").unwrap();
    assert_eq!(kept.len(), 2, "everybody, and TCP alone");
    kept.into_iter().for_each(|run| after.add(run));
    let rounded = |outcome: &Outcome<'_>| {
        let rows = outcome.rows().into_iter();
        let rows = rows.map(|row| (row.metric, format!("{:.9}", row.mean)));
        rows.collect::<Vec<_>>()
    };
    assert_eq!(rounded(&after), rounded(&before));
    assert_eq!(after.checks().len(), before.checks().len());
    assert!(summary(&after).contains("\"partial\": false"));
    let series = |outcome: &Outcome<'_>| {
        let series = outcome.series(0).expect("a series");
        let heads = series.columns.iter().map(Column::head);
        (series.t.len(), heads.collect::<Vec<_>>())
    };
    assert_eq!(series(&after), series(&before));
}

#[test]
fn runs_under_other_conditions_are_not_gone_on_with() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::keeping(place.path()).unwrap();
    folder.go_on("60 s").unwrap();
    folder.go_on("60 s").unwrap();
    let error = folder.go_on("30 s").unwrap_err().to_string();
    assert!(
        error.contains("other conditions") && error.contains("--out"),
        "{error}"
    );
}
