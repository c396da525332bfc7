//! Figures of a report must not contradict each other. Compares figures of equal meaning,
//! in a report of real runs.

use std::sync::atomic::AtomicBool;

use serde_json::Value;

use super::*;
use crate::engine::sim::Simulator;
use crate::figures::figure;
use crate::run::run;
use crate::scenario::Scenario;

/// WiFi carries nothing for 2 s, then for 250 ms: a long freeze and a short one.
const TEXT: &str = r#"
title = "t"
duration = "12s"
measure-from = "1s"
seeds = 3
topology = "parallel"

[links.wifi]
spec = "rate=3mbit,delay=10ms,loss=1%"
steps = [
    { at = "4s", loss = "100%" },
    { at = "6s", loss = "0%" },
    { at = "8s", loss = "100%" },
    { at = "8.25s", loss = "1%" },
]

[links.lte]
spec = "rate=1mbit,delay=40ms"

[flows.call]
kind = "call"
"#;

fn report(set: &[&str]) -> (Value, Value) {
    let set: Vec<String> = set.iter().map(|each| (*each).to_owned()).collect();
    let scenario = Scenario::parse("t.toml", TEXT, &set).unwrap();
    let mut outcome = Outcome::new(&scenario);
    let add = |ended: crate::run::TaskResult| -> Result<(), String> {
        outcome.add(ended.expect("runs end well"));
        Ok(())
    };
    run(&scenario, &Simulator, 2, &AtomicBool::new(false), add).unwrap();
    let report = data(&outcome, &Conditions::default());
    let summary = super::super::summary(&outcome);
    let parse = |text: &str| serde_json::from_str(text).unwrap();
    (parse(&report), parse(&summary))
}

fn rows(of: &Value) -> impl Iterator<Item = &Value> {
    of.as_array().into_iter().flatten()
}

fn near(one: f64, other: f64, what: &str) {
    let slack = 1e-9 * one.abs().max(1.0);
    assert!((one - other).abs() <= slack, "{what}: {one} and {other}");
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("no number: {of}"))
}

/// A row of results by system and metric.
fn result<'a>(report: &'a Value, system: &str, metric: &str) -> &'a Value {
    let is = |row: &&Value| row["system"] == system && row["metric"] == metric;
    rows(&report["results"]).find(is).unwrap()
}

const SYSTEMS: [&str; 3] = ["webrtc@wifi", "webrtc@lte", "weft"];

#[test]
fn the_strip_of_freezes_is_what_the_table_counts() {
    let (report, _) = report(&[]);
    let mut short = false;
    for system in SYSTEMS {
        for seed in 1..=3 {
            let series = match seed {
                1 => &report["series"][system],
                _ => &report["more_series"][seed.to_string()][system],
            };
            let frozen = &series["freezes"][0];
            assert_eq!(frozen["of"], "call");
            let value = |metric| number(&report["values"][system][metric][seed - 1]);
            let what = format!("{system}, seed {seed}");
            near(number(&frozen["seconds"]), value("freeze_s"), &what);
            let spans: Vec<f64> = rows(&frozen["cameras"][0])
                .map(|span| number(&span[1]) - number(&span[0]))
                .collect();
            near(spans.iter().sum(), value("freeze_s"), &what);
            near(spans.len() as f64, value("freeze_count"), &what);
            short |= spans.iter().any(|span| *span < 0.4);
        }
    }
    assert!(short, "a short freeze is among them");
}

#[test]
fn distributions_have_the_percentiles_of_the_table() {
    let (report, _) = report(&["seeds=1"]);
    for system in SYSTEMS {
        for (of, metric) in [
            ("e2e_ms", "e2e_ms_p95"),
            ("wait_ms", "queue_ms_p95"),
            ("owd_ms", "owd_ms_p95"),
        ] {
            let is = |cdf: &&Value| cdf["system"] == system && cdf["of"] == of;
            let cdf = rows(&report["cdfs"]).find(is).unwrap();
            let table = number(&result(&report, system, metric)["mean"]);
            near(number(&cdf["quantiles"][95]), table, metric);
        }
    }
}

#[test]
fn differences_are_those_of_the_table() {
    let (report, _) = report(&[]);
    let mut compared = 0;
    for difference in rows(&report["differences"]) {
        let metric = difference["metric"].as_str().unwrap();
        let of = |key: &str| result(&report, difference[key].as_str().unwrap(), metric);
        let (here, there) = (of("system"), of("baseline"));
        // If a run lacks the value, the difference has fewer pairs.
        if difference["n"] == here["n"] && here["n"] == there["n"] {
            let apart = number(&here["mean"]) - number(&there["mean"]);
            near(number(&difference["mean"]), apart, metric);
            compared += 1;
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn the_answer_has_the_figures_and_the_baseline_of_the_tables() {
    let (report, summary) = report(&[]);
    assert_eq!(report["answers"], summary["answers"]);
    let answer = &report["answers"][0];
    assert_eq!(answer["case"], "");
    let said = |at: usize| answer["sentences"][at].as_str().unwrap();
    assert!(said(0).contains("weft"), "{}", said(0));
    for (at, metric) in [(1, "goodput_mbps"), (2, "freeze_s"), (3, "e2e_ms_p95")] {
        let is = |row: &&Value| row["system"] == "weft" && row["metric"] == metric;
        let difference = rows(&report["differences"]).find(is).unwrap();
        let baseline = difference["baseline"].as_str().unwrap();
        let named = format!("the best single link ({baseline})");
        assert!(said(at).contains(&named), "{}", said(at));
        let clear = ["better", "worse"]
            .iter()
            .any(|v| difference["verdict"] == *v);
        assert_eq!(!clear, said(at).contains("no difference"), "{}", said(at));
        for system in ["weft", baseline] {
            let mean = number(&result(&report, system, metric)["mean"]);
            let told = match mean == 0.0 {
                true => "ever froze".to_owned(),
                false => figure(mean),
            };
            assert!(said(at).contains(&told), "{told}: {}", said(at));
        }
    }
}

#[test]
fn a_median_replaces_a_mean_whose_interval_is_too_wide() {
    let (report, _) = report(&["seeds=6"]);
    let mut medians = 0;
    for row in rows(&report["results"]) {
        let (metric, mean) = (row["metric"].as_str().unwrap(), number(&row["mean"]));
        let of = rows(&report["results"]).filter(|other| other["metric"] == metric);
        let of: Vec<&Value> = of.collect();
        let mut each = of.iter();
        let low = |row: &Value| row["ci95"][0].as_f64().unwrap_or(f64::INFINITY);
        let skewed = each.any(|other| low(other) < 0.5 * number(&other["mean"]));
        let has = |row: &Value| row.get("median").is_some();
        assert!(of.iter().all(|other| has(other) == has(row)), "{metric}");
        assert!(!has(row) || skewed, "{metric}: {row}");
        if has(row) {
            medians += 1;
            let values = rows(&report["values"][row["system"].as_str().unwrap()][metric]);
            let mut values: Vec<f64> = values.filter_map(Value::as_f64).collect();
            values.sort_by(f64::total_cmp);
            let sum: f64 = values.iter().sum();
            near(sum / values.len() as f64, mean, metric);
            if values.len() == 6 {
                let middle = (values[2] + values[3]) / 2.0;
                near(number(&row["median"]["median"]), middle, metric);
            }
        }
    }
    assert!(medians > 0);
}
