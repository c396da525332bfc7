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
fn a_resumed_campaign_has_the_same_results() {
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
    // A file that was incomplete when the program was killed is ignored, and its task
    // runs again.
    std::fs::write(place.path().join("tasks/weft.seed2.json"), "{\"vari").unwrap();
    let mut after = Outcome::new(&scenario);
    let kept = folder.go_on("here").unwrap();
    assert_eq!(kept.len(), 2, "all flows, and TCP alone");
    kept.into_iter().for_each(|run| after.add(run));
    assert!(summary(&after).contains("\"partial\": false"));
    assert_eq!(summary(&after), summary(&before), "to the last digit");
    let series = |outcome: &Outcome<'_>| {
        let series = outcome.series(0, 1).expect("a series");
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

#[test]
fn a_run_that_was_interrupted_ends_as_if_it_had_not_been() {
    let scenario = Scenario::parse("t.toml", TEXT, &["seeds=2".to_owned()]).unwrap();
    let (place, not_stopped) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
    let mut whole = Outcome::new(&scenario);
    let ran = crate::run::run(&scenario, &Simulator, 1, &not_stopped, |ended| {
        whole.add(ended.expect("runs end well"));
        Ok::<(), String>(())
    });
    assert_eq!(ran, Ok(()));

    // Two of four, then an interruption.
    let (folder, left) = Folder::resume(place.path(), "here").unwrap();
    assert!(left.is_empty());
    let stop = AtomicBool::new(false);
    let mut made = 0;
    let ran = crate::run::run(&scenario, &Simulator, 1, &stop, |ended| {
        let run = ended.expect("runs end well");
        folder
            .write_series(&scenario, &run)
            .map_err(|e| e.to_string())?;
        made += 1;
        stop.store(made == 2, std::sync::atomic::Ordering::Relaxed);
        folder
            .keep_for_now(&scenario, &run)
            .map_err(|e| e.to_string())
    });
    assert_eq!((ran, made), (Ok(()), 2));

    let (folder, left) = Folder::resume(place.path(), "here").unwrap();
    let mut outcome = Outcome::new(&scenario);
    let mut tasks = crate::run::Plan::of(&scenario).tasks;
    tasks.retain(|task| left.iter().all(|run| run.task != *task));
    assert_eq!((left.len(), tasks.len()), (2, 2));
    let one = left[0].clone();
    left.into_iter().for_each(|run| outcome.add(run));
    let ran = crate::run::run_tasks(&scenario, &Simulator, &tasks, 1, &not_stopped, |ended| {
        outcome.add(ended.expect("runs end well"));
        Ok::<(), String>(())
    });
    assert_eq!(ran, Ok(()));
    assert_eq!(summary(&outcome), summary(&whole));
    assert!(place.path().join("series/weft.seed1.csv").exists());
    folder.all_ended().unwrap();
    assert!(!place.path().join("unfinished").exists());

    // Another experiment starts from the beginning, whatever the folder contains.
    let (folder, _) = Folder::resume(place.path(), "here").unwrap();
    folder.keep_for_now(&scenario, &one).unwrap();
    let (_, left) = Folder::resume(place.path(), "elsewhere").unwrap();
    assert!(left.is_empty());
}
