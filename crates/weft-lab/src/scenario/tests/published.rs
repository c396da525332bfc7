//! Published values of several conditions, and relative ones.

use super::parse;
use crate::outcome::Outcome;
use crate::run::{Participants, Run, Task};
use crate::scenario::By;

/// A call and TCP under two rates and two queues.
const GRID: &str = r#"
title = "A grid"
duration = "30s"
systems = ["webrtc"]
sections = ["10s"]
seeds = 2

[links.line]
spec = "rate=2mbit,delay=25ms"

[flows.call]
kind = "call"

[flows.tcp]
kind = "tcp"

[[vary]]
key = "links.line.rate"
values = ["1mbit", "2mbit"]

[[vary]]
key = "links.line.aqm"
values = ["droptail", "codel"]
label = "aqm"
"#;

fn with(published: &str) -> String {
    GRID.replace(
        "seeds = 2\n",
        &format!("seeds = 2\npublished = [{{ source = \"a book\", {published} }}]\n"),
    )
}

#[test]
fn a_star_is_each_of_the_varied_values() {
    let text = with(
        r#"system = "webrtc (*, aqm codel)", relative-to = "webrtc (*, aqm droptail)", metric = "loss", by = "difference", low = 0"#,
    );
    let scenario = parse(&text, &[]).unwrap();
    let names = scenario.published.iter();
    let names: Vec<_> = names
        .map(|p| (p.system.as_str(), p.relative_to.as_deref(), p.by))
        .collect();
    let expected = ["1mbit", "2mbit"].map(|rate| {
        (
            format!("webrtc ({rate}, aqm codel)"),
            format!("webrtc ({rate}, aqm droptail)"),
        )
    });
    let expected: Vec<_> = expected
        .iter()
        .map(|(a, b)| (a.as_str(), Some(b.as_str()), By::Difference))
        .collect();
    assert_eq!(names, expected);
    let all = with(r#"system = "webrtc (*, *)", metric = "loss", low = 0"#);
    assert_eq!(parse(&all, &[]).unwrap().published.len(), 4);
}

#[test]
fn errors_in_a_star_or_another_value_are_reported() {
    for (published, parts) in [
        (
            r#"system = "webrtc (*)", metric = "loss", relative-to = "webrtc (*, aqm codel)", low = 0"#,
            vec!["`*` stands for", "write 2 parts"],
        ),
        (
            r#"system = "webrtc (*, *, *)", metric = "loss", low = 0"#,
            vec!["`*` stands for", "write 2 parts"],
        ),
        (
            r#"system = "webrtc (1mbit, *)", metric = "loss", relative-to = "webrtc (*, aqm codel)", low = 0"#,
            vec!["in `relative-to` for that of `system`"],
        ),
        (
            r#"system = "webrtc (1mbit, *)", metric = "loss", by = "difference", low = 0"#,
            vec!["name the other with `relative-to`"],
        ),
        (
            r#"system = "webrtc (1mbit, *)", metric = "loss", relative-metric = "los#1", low = 0"#,
            vec!["did you mean `loss`"],
        ),
        (
            r#"system = "webrtc (1mbit, *)", metric = "flow_rate_equality.call/tpc", low = 0"#,
            vec!["there is no flow or link `tpc`", "`tcp`"],
        ),
    ] {
        let error = parse(&with(published), &[]).unwrap_err();
        assert!(error.starts_with("t.toml:"), "{error}");
        assert!(
            parts.iter().all(|part| error.contains(part)),
            "{published}: {error}"
        );
    }
}

#[test]
fn a_value_is_held_against_that_of_another_metric_seed_by_seed() {
    let verdict = |by: &str| {
        let text = with(&format!(
            r#"system = "webrtc (1mbit, aqm codel)", metric = "sent_mbps#2.call", relative-metric = "sent_mbps#1.call", by = "{by}", low = 0"#
        ));
        let scenario = parse(&text, &[]).unwrap();
        let variant = scenario
            .variants
            .iter()
            .position(|v| v.name == scenario.published[0].system);
        let mut outcome = Outcome::new(&scenario);
        for (seed, before, after) in [(1, 2.0, 1.0), (2, 4.0, 3.0)] {
            outcome.add(Run {
                task: Task {
                    variant: variant.unwrap(),
                    seed,
                    participants: Participants::All,
                },
                values: vec![
                    ("sent_mbps#1.call".to_owned(), before),
                    ("sent_mbps#2.call".to_owned(), after),
                ],
                competing: Vec::new(),
                series: Default::default(),
                percentiles: Default::default(),
                checks: Vec::new(),
                events: 0,
                notes: Vec::new(),
            });
        }
        outcome.compared()[0].here
    };
    // (1/2 + 3/4) / 2, and -1 twice.
    assert_eq!(verdict("ratio"), Some(0.625));
    assert_eq!(verdict("difference"), Some(-1.0));
}

#[test]
fn pairs_of_flows_are_those_that_metrics_name() {
    let text =
        with(r#"system = "webrtc (1mbit, *)", metric = "flow_rate_equality.tcp/call", high = 0"#);
    let set = ["metrics=[\"flow_rate_equality.call/tcp\"]"];
    let scenario = parse(&text, &set).unwrap();
    assert_eq!(scenario.pairs(), ["call/tcp", "tcp/call"]);
}

#[test]
fn picture_quality_is_not_reported_without_freezes() {
    let asked = |metrics: &str| parse(GRID, &[metrics]).unwrap().metrics;
    assert_eq!(
        asked("metrics=[\"brisque.call\"]"),
        ["brisque.call", "freeze_s"]
    );
    assert_eq!(
        asked("metrics=[\"freeze_s\", \"brisque\"]"),
        ["freeze_s", "brisque"]
    );
    assert_eq!(asked("metrics=[\"fps\"]"), ["fps"]);
}

#[test]
fn a_queue_that_holds_no_packet_is_noted() {
    let notes = parse(GRID, &["links.line.queue=938B"]).unwrap().notes();
    let [note] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    assert!(
        note.contains("`line`") && note.contains("938") && note.contains("1514"),
        "{note}"
    );
    assert!(
        parse(GRID, &["links.line.queue=1514B"])
            .unwrap()
            .notes()
            .is_empty()
    );
}
