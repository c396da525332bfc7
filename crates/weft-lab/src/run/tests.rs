use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{PausedRun, Run};
use crate::engine::sim::Simulator;
use crate::outcome::Outcome;
use crate::output::summary;
use crate::scenario::Scenario;

const TCP: &str = r#"
title = "Two TCP flows"
duration = "8s"
seeds = 3

[links.bottleneck]
spec = "rate=2mbit,delay=25ms,queue=2bdp,loss=0.2%"

[flows.a]
kind = "tcp"

[flows.b]
kind = "tcp"
start = "1s"

[system.large]
[system.small.set.links.bottleneck]
queue = "0.5bdp"
"#;

const CALL: &str = r#"
title = "A call beside TCP"
duration = "20s"
measure-from = "5s"
seeds = 1
systems = ["weft"]
metrics = ["throughput_mbps", "fps", "freeze_s", "e2e_ms_mean", "e2e_ms_p95", "frames_dropped",
           "flow_rate_equality", "harm", "jain_index", "utilisation", "convergence_s"]

[links.wifi]
spec = "rate=4mbit,delay=15ms,queue=200ms"

[links.lte]
trace = "generated:stationary/lte"
delay = "30ms"

[flows.call]
kind = "call"
max-rate = "3mbit"

[flows.download]
kind = "tcp"
via = ["wifi"]
start = "8s"
stop = "16s"
"#;

fn scenario(text: &str) -> Scenario {
    Scenario::parse("t.toml", text, &[]).unwrap()
}

fn outcome(scenario: &Scenario, jobs: usize) -> Outcome<'_> {
    let mut outcome = Outcome::new(scenario);
    let result: Result<(), ()> = super::run(
        scenario,
        &Simulator,
        jobs,
        &AtomicBool::new(false),
        |ended| {
            outcome.add(ended.expect("runs end well"));
            Ok(())
        },
    );
    assert_eq!(result, Ok(()));
    outcome
}

fn value(outcome: &Outcome<'_>, metric: &str) -> f64 {
    let rows = outcome.rows();
    let row = rows.iter().find(|row| row.metric == metric);
    row.unwrap_or_else(|| panic!("no {metric} among {rows:#?}"))
        .mean
}

#[test]
fn a_call_over_a_dead_link_is_frozen_all_the_time() {
    let dead =
        "spec = \"rate=4mbit,delay=15ms,queue=200ms\"\nsteps = [{ at = \"0s\", rate = \"0mbit\" }]";
    let text = CALL.replace("spec = \"rate=4mbit,delay=15ms,queue=200ms\"", dead);
    let systems = "systems=[\"webrtc@wifi\"]".to_owned();
    let metrics = "metrics=[\"freeze_s\", \"freeze_count\", \"convergence_s\"]".to_owned();
    let scenario = Scenario::parse("t.toml", &text, &[systems, metrics]).unwrap();
    let outcome = outcome(&scenario, 1);
    let frozen = (value(&outcome, "freeze_s"), value(&outcome, "freeze_count"));
    assert_eq!(frozen, (15.0, 1.0));
    let rows = outcome.rows();
    assert!(rows.iter().all(|row| row.metric != "convergence_s"));
}

const OUTAGE: &str = r#"
title = "A call whose link carries nothing from 4 to 8 s"
duration = "12s"
seeds = 1
systems = ["webrtc@line"]

[links.line]
spec = "rate=3mbit,delay=20ms"
steps = [{ at = "4s", loss = "100%" }, { at = "8s", loss = "0%" }]

[flows.call]
kind = "call"
max-rate = "1mbit"
"#;

#[test]
fn an_outage_freezes_wherever_the_measured_time_begins() {
    let frozen = |text: &str, set: &[String]| {
        let scenario = Scenario::parse("t.toml", text, set).unwrap();
        let outcome = outcome(&scenario, 1);
        let (time, count) = (value(&outcome, "freeze_s"), value(&outcome, "freeze_count"));
        assert_eq!(count, 1.0, "{text} {set:?}");
        time
    };
    // At most a second until the picture is back.
    let whole = frozen(OUTAGE, &[]);
    assert!((4.0..=5.0).contains(&whole), "{whole} s");
    let late = frozen(OUTAGE, &["measure-from=\"6s\"".into()]);
    assert!((2.0..=3.0).contains(&late), "{late} s");
    // From the beginning, because there was no earlier picture.
    let never = OUTAGE.replace("at = \"4s\"", "at = \"0s\"");
    let never = frozen(&never, &[]);
    assert!((8.0..=10.0).contains(&never), "{never} s");
}

#[test]
fn times_that_differ_from_the_published_ones_are_reported() {
    let text = format!(
        "{TCP}\n[[published]]\nsystem = \"large\"\nmetric = \"loss\"\nlow = 0\nhigh = 1\nsource = \"s\"\n"
    );
    let notes = |set: &[String]| Scenario::parse("t.toml", &text, set).unwrap().notes();
    assert!(notes(&[]).is_empty());
    assert!(notes(&["seeds=1".to_owned()]).is_empty());
    assert_eq!(notes(&["duration=5s".to_owned()]).len(), 1);
}

#[test]
fn results_depend_on_neither_threads_nor_repetition() {
    let scenario = scenario(TCP);
    let one = summary(&outcome(&scenario, 1));
    assert_eq!(one, summary(&outcome(&scenario, 4)));
    assert_eq!(one, summary(&outcome(&scenario, 1)));
    // A value that could differ, because it differs between seeds.
    let outcome = outcome(&scenario, 2);
    let by_seed = outcome.values(0, "throughput_mbps.a");
    assert_ne!(by_seed[0], by_seed[1]);
}

#[test]
fn two_flows_share_a_bottleneck_that_is_full_and_checks_itself() {
    let scenario = scenario(&TCP.replace(",loss=0.2%", ""));
    let outcome = outcome(&scenario, 2);
    let sum = value(&outcome, "throughput_mbps");
    assert!((1.7..=2.3).contains(&sum), "{sum}");
    let used = value(&outcome, "utilisation");
    assert!((0.9..=1.0).contains(&used), "{used}");
    let checks = outcome.checks();
    assert!(checks.iter().all(|c| c.check.ok), "{checks:#?}");
    // Rate, queue and packets of both directions, delay of both flows; two systems.
    for what in ["rate_mbps", "queue_ms", "packets", "delay_ms"] {
        assert!(
            checks.iter().any(|c| c.check.what == what),
            "{what}: {checks:#?}"
        );
    }
    let differences = outcome.differences();
    let queue = differences
        .iter()
        .find(|d| d.metric == "queue_ms_mean")
        .unwrap();
    assert_eq!(
        (
            queue.system.as_str(),
            queue.baseline.as_str(),
            queue.verdict
        ),
        ("small", "large", "better")
    );
}

#[test]
fn a_call_has_what_its_people_see() {
    let scenario = scenario(CALL);
    let outcome = outcome(&scenario, 1);
    let within = |metric: &str, low: f64, high: f64| {
        let found = value(&outcome, metric);
        assert!((low..=high).contains(&found), "{metric}: {found}");
    };
    within("fps", 15.0, 30.5);
    within("throughput_mbps", 0.5, 4.5);
    within("e2e_ms_mean", 15.0, 400.0);
    within("freeze_s", 0.0, 15.0);
    within("flow_rate_equality", -1.0, 1.0);
    within("harm", -0.5, 1.0);
    assert!(value(&outcome, "e2e_ms_p95") >= value(&outcome, "e2e_ms_mean"));
    let series = outcome.series(0, 1).unwrap();
    for name in ["rate_mbps", "target_mbps", "fps", "e2e_ms"] {
        let column = series
            .columns
            .iter()
            .find(|c| c.name == name && c.of == "call")
            .unwrap();
        assert_eq!(column.values.len(), series.t.len(), "{name}");
        assert!(column.values.iter().flatten().any(|v| *v > 0.0), "{name}");
    }
}

const BEGINNING: &str = r#"
title = "A call whose link is bad at the beginning"
duration = "20s"
seeds = 1
systems = ["webrtc@line"]

[links.line]
spec = "rate=3mbit,delay=20ms,queue=1000ms"
steps = [{ at = "0s", rate = "300kbit" }, { at = "8s", rate = "3mbit" }]

[flows.call]
kind = "call"
max-rate = "1mbit"
sound = "32kbit"

[flows.burst]
kind = "udp"
rate = "2mbit"
stop = "7s"
"#;

#[test]
fn nothing_before_the_measured_time_counts() {
    let whole = scenario(BEGINNING);
    let late = Scenario::parse("t.toml", BEGINNING, &["measure-from=\"10s\"".into()]).unwrap();
    let (whole, late) = (outcome(&whole, 1), outcome(&late, 1));
    for metric in [
        "loss",
        "queue_ms_mean",
        "queue_ms_p95",
        "owd_ms_p95",
        "sound_loss",
    ] {
        let (all, rest) = (value(&whole, metric), value(&late, metric));
        assert!(all > 0.0 && rest < all / 4.0, "{metric}: {all} and {rest}");
    }
    assert_eq!(value(&late, "loss"), 0.0);
    assert!(value(&late, "keyframe_requests") < value(&whole, "keyframe_requests"));
    assert!(
        late.checks().iter().all(|c| c.check.ok),
        "{:#?}",
        late.checks()
    );
}

#[test]
fn sound_is_played_soon_after_it_was_recorded() {
    let text = BEGINNING
        .replace("300kbit", "3mbit")
        .replace("2mbit", "100kbit");
    let scenario = scenario(&text);
    let outcome = outcome(&scenario, 1);
    assert_eq!(value(&outcome, "sound_loss"), 0.0);
    let latency = value(&outcome, "sound_ms_mean");
    assert!((20.0..120.0).contains(&latency), "{latency}");
    let ssim = value(&outcome, "ssim");
    assert!((0.9..1.0).contains(&ssim), "{ssim}");
}

#[test]
fn a_stop_keeps_what_is_finished() {
    let scenario = scenario(TCP);
    let stop = AtomicBool::new(false);
    let mut outcome = Outcome::new(&scenario);
    let result: Result<(), ()> = super::run(&scenario, &Simulator, 1, &stop, |ended| {
        outcome.add(ended.expect("runs end well"));
        stop.store(true, Ordering::Relaxed);
        Ok(())
    });
    assert_eq!(result, Ok(()));
    assert!(
        (1..scenario.variants.len() * 3).contains(&outcome.finished()),
        "{}",
        outcome.finished()
    );
    assert!(summary(&outcome).contains("\"partial\": true"));
}

#[test]
fn an_error_of_the_caller_ends_the_runs_and_is_returned() {
    let scenario = scenario(TCP);
    let mut seen: Vec<Run> = Vec::new();
    let result = super::run(&scenario, &Simulator, 2, &AtomicBool::new(false), |ended| {
        seen.extend(ended);
        Err("disk full")
    });
    assert_eq!((result, seen.len()), (Err("disk full"), 1));
}

#[test]
fn the_self_check_finds_a_link_that_does_not_do_what_it_says() {
    let text = TCP.replace(",loss=0.2%", "");
    let told = scenario(&text.replace(
        "rate=2mbit,delay=25ms,queue=2bdp",
        "rate=1mbit,delay=40ms,queue=10ms",
    ));
    let ran = scenario(&text);
    let record = weft_sim::run(&ran.variants[0].setup, 1, &mut ()).unwrap();
    let setup = &told.variants[0].setup;
    let capacities = crate::measure::capacity::Capacities::of(setup);
    let lie = crate::measure::run::Run {
        setup,
        focus: &[0],
        from: weft_units::Duration::ZERO,
        until: None,
        capacities: &capacities,
        record: &record,
    };
    let checks = crate::measure::check::checks(&lie);
    for what in ["rate_mbps", "queue_ms", "delay_ms"] {
        assert!(
            checks.iter().any(|c| c.what == what && !c.ok),
            "{what}: {checks:#?}"
        );
    }
}

#[test]
fn harm_is_of_any_metric_and_any_victim() {
    let set = |metrics: &str| {
        let set = [format!("metrics={metrics}")];
        let scenario = Scenario::parse("t.toml", CALL, &set).unwrap();
        let outcome = outcome(&scenario, 2);
        let name = |row: &crate::outcome::Row| (row.metric.clone(), row.mean);
        outcome.rows().iter().map(name).collect::<Vec<_>>()
    };
    let all = r#"["harm", "harm.download", "harm_fps", "harm_owd_ms_mean", "harm_goodput_mbps.download"]"#;
    let rows = set(all);
    let names: Vec<&str> = rows.iter().map(|(name, _)| name.as_str()).collect();
    let wanted = [
        "harm",
        "harm.download",
        "harm_goodput_mbps.download",
        "harm_fps",
        "harm_owd_ms_mean",
    ];
    assert_eq!(names, wanted);
    // The transfer shares its link with a call, and packets wait for it.
    assert!(rows[1].1 > 0.0 && rows[1].1 < 0.5, "{rows:?}");
    assert!(rows[4].1 > 0.05 && rows[4].1 < 0.9, "{rows:?}");
    // Another victim changes nothing for the first one.
    assert_eq!(set("[\"harm\"]")[0], rows[0]);
}

#[test]
fn a_run_that_pauses_has_the_results_of_one_that_does_not() {
    let scenario = Arc::new(scenario(CALL));
    let mut paused = PausedRun::new(scenario.clone(), 0, 1).unwrap();
    while !paused.has_ended() {
        paused.advance(weft_units::Duration::from_millis(60));
    }
    assert!(paused.now() >= scenario.duration());
    let paused = paused.finish();
    let mut whole = Vec::new();
    let keep = |ended: super::TaskResult| -> Result<(), ()> {
        whole.extend(ended);
        Ok(())
    };
    super::run(&scenario, &Simulator, 1, &AtomicBool::new(false), keep).unwrap();
    let whole = whole.iter().find(|run| run.task == paused.task).unwrap();
    assert_eq!(whole.values, paused.values);
    assert_eq!(whole.events, paused.events);
}
