use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::{Conditions, Folder, Rows, failed, printed, render, rewrite_report};
use crate::engine::sim::Simulator;
use crate::outcome::Outcome;
use crate::run::run;
use crate::scenario::Scenario;

const TEXT: &str = r#"
title = "A title with </script> in it"
duration = "5s"
seeds = 2
metrics = ["throughput_mbps", "loss"]

[links.bottleneck]
spec = "rate=2mbit,delay=25ms,queue=2bdp"

[flows.tcp]
kind = "tcp"

[[published]]
system = "all"
metric = "throughput_mbps"
low = 1.5
high = 2.0
source = "a book"

[[published]]
system = "all"
metric = "throughput_mbps"
value = 20.0
source = "another book"

[[published]]
system = "all"
metric = "throughput_mbps"
low = 3.0
source = "a third book"
"#;

pub(super) fn written(folder: &Path) -> Value {
    let scenario = Scenario::parse("t.toml", TEXT, &[]).unwrap();
    let out = Folder::create(folder).unwrap();
    let mut outcome = Outcome::new(&scenario);
    let result: Result<(), String> =
        run(&scenario, &Simulator, 1, &AtomicBool::new(false), |ended| {
            let ended = ended.expect("runs end well");
            out.write_series(&scenario, &ended)
                .map_err(|e| e.to_string())?;
            outcome.add(ended);
            Ok(())
        });
    result.unwrap();
    out.write_outcome(&outcome, &Conditions::default()).unwrap();
    let text = std::fs::read_to_string(folder.join("summary.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn the_summary_has_the_layout_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let summary = written(folder.path());
    assert_eq!(summary["schema"], 1);
    assert_eq!(summary["engine"], "sim");
    assert_eq!(summary["seeds"], serde_json::json!([1, 2]));
    assert_eq!(summary["partial"], false);
    let result = &summary["results"][0];
    assert_eq!(result["system"], "all");
    assert_eq!(result["metric"], "throughput_mbps");
    assert_eq!(result["unit"], "Mbit/s");
    assert_eq!(result["n"], 2);
    let (mean, ci) = (result["mean"].as_f64().unwrap(), &result["ci95"]);
    assert!(ci[0].as_f64().unwrap() <= mean && mean <= ci[1].as_f64().unwrap());
    assert_eq!(
        summary["results"].as_array().unwrap().len(),
        2,
        "only what `metrics` asks for"
    );
    let verdicts: Vec<_> = summary["published"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| &p["verdict"])
        .collect();
    assert_eq!(verdicts, ["agrees", "lower", "lower"]);
    // A range has no value of its own, in particular not its middle.
    assert_eq!(summary["published"][0]["published"], Value::Null);
    assert_eq!(summary["published"][1]["published"], 20.0);
    let agrees = |at: usize| &summary["published"][at]["agrees"];
    assert_eq!(agrees(0), &serde_json::json!([1.5, 2.0]));
    assert_eq!(agrees(2), &serde_json::json!([3.0, null]), "an open end");
    assert_eq!(summary["selfcheck"]["ok"], true);
}

#[test]
fn the_terminal_has_what_people_ask_first_and_all_with_a_word() {
    let asked = "metrics = [\"throughput_mbps\", \"loss\"]\n";
    for (text, foremost) in [(TEXT.replace(asked, ""), None), (TEXT.to_owned(), Some(2))] {
        let scenario = Scenario::parse("t.toml", &text, &[]).unwrap();
        let mut outcome = Outcome::new(&scenario);
        let add = |ended: crate::run::TaskResult| -> Result<(), String> {
            outcome.add(ended.expect("runs end well"));
            Ok(())
        };
        run(&scenario, &Simulator, 1, &AtomicBool::new(false), add).unwrap();
        let rows = |which| -> Vec<String> {
            let text = printed(&outcome, which);
            let names = text
                .lines()
                .skip(1)
                .map(|line| line.split(' ').next().unwrap());
            names.map(str::to_owned).collect()
        };
        let (first, all) = (rows(Rows::Foremost), rows(Rows::All));
        assert!(first.contains(&"throughput_mbps".to_owned()), "{first:?}");
        match foremost {
            // If a scenario requests metrics, there are no others.
            Some(count) => assert_eq!((first.len(), all.len()), (count, count)),
            None => {
                assert_eq!(first.last().map(String::as_str), Some("and"), "{first:?}");
                assert!(!first.contains(&"owd_ms_p95".to_owned()), "{first:?}");
                assert!(all.contains(&"owd_ms_p95".to_owned()), "{all:?}");
            }
        }
    }
}

#[test]
fn tables_and_series_stand_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(
        read("results.csv")
            .starts_with("system,metric,unit,mean,ci95_low,ci95_high,n\nall,throughput_mbps,")
    );
    assert_eq!(read("runs.csv").lines().count(), 1 + 2 * 2);
    for name in ["runs.parquet", "series/all.seed2.parquet"] {
        let bytes = std::fs::read(folder.path().join(name)).unwrap();
        assert!(
            bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"),
            "{name}"
        );
    }
    let series = read("series/all.seed1.csv");
    let mut lines = series.lines();
    assert!(lines.next().unwrap().starts_with("t_s,rate_mbps.tcp,"));
    // 5 s in periods of 200 ms.
    assert_eq!(lines.count(), 25);
}

#[test]
fn the_report_holds_its_data_and_can_be_written_again() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let report = folder.path().join("report.html");
    let first = std::fs::read_to_string(&report).unwrap();
    assert!(first.contains("A title with \\u003c/script> in it"));
    std::fs::remove_file(&report).unwrap();
    rewrite_report(folder.path()).unwrap();
    assert_eq!(std::fs::read_to_string(&report).unwrap(), first);
}

#[test]
fn the_report_loads_nothing() {
    let page = render("{}");
    for loads in [
        "src=\"http",
        "href=\"http",
        "url(http",
        "@import",
        "import(\"",
    ] {
        assert!(!page.contains(loads), "{loads}");
    }
}

#[test]
fn a_read_only_folder_is_reported_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Folder::create(&file.join("out")).unwrap_err().to_string();
    assert!(
        error.contains("file/out") && error.contains("--out"),
        "{error}"
    );
    let error = rewrite_report(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("report.json") && error.contains("weft lab run --out"),
        "{error}"
    );
}

#[test]
fn a_report_without_results_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    // State after a run that was killed, or whose disk was full.
    Folder::create(folder.path()).unwrap();
    let page = folder.path().join("report.html");
    for data in [None, Some("{\"schema\": 1, \"res"), Some("[]")] {
        if let Some(data) = data {
            std::fs::write(folder.path().join("report.json"), data).unwrap();
        }
        let error = rewrite_report(folder.path()).unwrap_err().to_string();
        assert!(
            error.contains("report.json: it holds no results"),
            "{error}"
        );
        assert!(!page.exists());
    }
    written(folder.path());
    assert_eq!(rewrite_report(folder.path()).unwrap(), page);
}

#[test]
fn a_report_of_another_layout_is_not_written_again() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let [data, page] = ["report.json", "report.html"].map(|name| folder.path().join(name));
    let known = std::fs::read_to_string(&data).unwrap();
    let other = known.replacen("\"schema\":1,", "\"schema\":2,", 1);
    assert_ne!(known, other);
    std::fs::write(&data, other).unwrap();
    let before = std::fs::read_to_string(&page).unwrap();
    let error = rewrite_report(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("report.json: it has the layout 2") && error.contains("use the version"),
        "{error}"
    );
    assert_eq!(std::fs::read_to_string(&page).unwrap(), before);
}

#[test]
fn a_folder_that_is_used_again_keeps_what_is_not_ours() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let series = folder.path().join("series");
    let foreign = ["notes.txt", "mine.seed1.csv", "../kept.csv"];
    for name in foreign {
        std::fs::write(series.join(name), "mine").unwrap();
    }
    // Someone has edited the list.
    let list = series.join("written.txt");
    let meddled = std::fs::read_to_string(&list).unwrap() + "../kept\n/etc/passwd\n";
    std::fs::write(&list, meddled).unwrap();
    Folder::create(folder.path()).unwrap();
    let left: Vec<String> = std::fs::read_dir(&series)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(
        foreign.iter().all(|name| series.join(name).exists()),
        "{left:?}"
    );
}

#[test]
fn results_of_a_former_run_do_not_outlive_the_beginning_of_the_next() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let mine = folder.path().join("notes.txt");
    std::fs::write(&mine, "mine").unwrap();
    // This one is killed just after its start.
    Folder::create(folder.path()).unwrap();
    for name in super::OUTCOME {
        assert!(!folder.path().join(name).exists(), "{name}");
    }
    assert!(mine.exists());
    // Files in a folder without a run's output are not ours.
    let other = tempfile::tempdir().unwrap();
    let results = other.path().join("results.csv");
    std::fs::write(&results, "mine").unwrap();
    Folder::create(other.path()).unwrap();
    assert!(results.exists());
}

#[test]
fn a_full_disk_has_a_remedy_of_its_own() {
    let error = failed(
        Path::new("out/summary.json"),
        io::ErrorKind::StorageFull.into(),
    )
    .to_string();
    assert!(
        error.contains("out/summary.json") && error.contains("make room"),
        "{error}"
    );
}

#[test]
fn a_report_of_hundreds_of_systems_has_coarser_series() {
    let rows = [1, 40, 80, 192, 1000].map(crate::outcome::rows_of_each);
    assert_eq!(rows, [600, 600, 300, 125, 120]);
}

#[test]
fn varied_values_are_rows_and_systems_columns() {
    let set = ["links.a.delay=10ms,50ms", "seeds=1"].map(str::to_owned);
    let links = ["a=rate=1mbit", "b=rate=2mbit,delay=30ms"].map(str::to_owned);
    let text = crate::catalogue::comparison(&links, 1).unwrap();
    let text = text.replace("\"60s\"", "\"2s\"");
    let scenario = Scenario::parse("t.toml", &text, &set).unwrap();
    let mut outcome = Outcome::new(&scenario);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let add = |ended: crate::run::TaskResult| -> Result<(), ()> {
        outcome.add(ended.expect("runs end well"));
        Ok(())
    };
    crate::run::run(&scenario, &crate::engine::sim::Simulator, 1, &stop, add).unwrap();
    let text = printed(&outcome, Rows::Foremost);
    let lines = text.lines().skip_while(|line| *line != "goodput_mbps");
    let lines: Vec<Vec<&str>> = lines
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(lines[1], ["a.delay", "webrtc@a", "webrtc@b", "weft"]);
    let first: Vec<&str> = lines[2..4].iter().map(|line| line[0]).collect();
    assert_eq!(first, ["10ms", "50ms"]);
    // A longer delay of one link changes its call, but not the call over the other link.
    assert_ne!(lines[2][1], lines[3][1], "{text}");
    assert_eq!(lines[2][2], lines[3][2], "{text}");
    assert!(text.contains("\nfreeze_s\na.delay  "), "{text}");
}
