use super::{Worse, is_worse};
use crate::measure::metrics::Better;
use crate::measure::series::Series;
use crate::outcome::Outcome;
use crate::run::{Participants, Run, Task};
use crate::scenario::Scenario;

const TEXT: &str = r#"
title = "One call, three systems"
duration = "10s"
seeds = 3
systems = ["webrtc@wifi", "webrtc@lte", "weft"]

[links]
wifi = "rate=3mbit,delay=10ms"
lte = "rate=3mbit,delay=30ms"

[flows.call]
kind = "call"
"#;

#[test]
fn the_best_link_of_each_run_is_the_measure() {
    let scenario = Scenario::parse("t.toml", TEXT, &[]).unwrap();
    let mut outcome = Outcome::new(&scenario);
    // Frozen seconds for each seed: the better link changes.
    let frozen = [[0.0, 8.0, 4.0], [6.0, 1.0, 4.0], [0.0, 1.04, 4.3]];
    for (variant, values) in frozen.iter().enumerate() {
        for (index, value) in values.iter().enumerate() {
            outcome.add(Run {
                task: Task {
                    variant,
                    seed: index as u64 + 1,
                    participants: Participants::All,
                },
                competing: Vec::new(),
                values: vec![
                    ("freeze_s".into(), *value),
                    ("throughput_mbps".into(), 1.0),
                    ("fec_overhead".into(), variant as f64),
                ],
                series: Series::default(),
                percentiles: Default::default(),
                checks: Vec::new(),
                events: 0,
                notes: Vec::new(),
            });
        }
    }
    let expected = Worse {
        system: "weft".into(),
        metric: "freeze_s".into(),
        worse: 1,
        n: 3,
    };
    // More throughput is neither better nor worse, nor are repair packets.
    assert_eq!(outcome.worse_than_single(), [expected]);
    // Best by the mean of all seeds, and the first one if more is neither better nor
    // worse: the baseline of all other systems.
    let differences = outcome.differences();
    let of = |metric: &str| -> Vec<(String, String)> {
        let mine = differences.iter().filter(|d| d.metric == metric);
        mine.map(|d| (d.system.clone(), d.baseline.clone()))
            .collect()
    };
    let pairs = |pairs: [(&str, &str); 2]| pairs.map(|(a, b)| (a.to_owned(), b.to_owned()));
    let to_lte = [("webrtc@wifi", "webrtc@lte"), ("weft", "webrtc@lte")];
    assert_eq!(of("freeze_s"), pairs(to_lte));
    let to_wifi = [("webrtc@lte", "webrtc@wifi"), ("weft", "webrtc@wifi")];
    assert_eq!(of("throughput_mbps"), pairs(to_wifi));
    let weft = differences
        .iter()
        .find(|d| d.system == "weft" && d.metric == "freeze_s");
    let expected = (0.0 - 6.0 + 1.04 - 1.0 + 4.3 - 4.0) / 3.0;
    assert!((weft.unwrap().mean - expected).abs() < 1e-9, "{weft:?}");
}

#[test]
fn a_margin_of_a_twentieth_is_not_a_difference() {
    assert!(!is_worse(95.0, 100.0, Better::Higher));
    assert!(is_worse(94.9, 100.0, Better::Higher));
    assert!(!is_worse(105.0, 100.0, Better::Lower));
    assert!(is_worse(105.1, 100.0, Better::Lower));
    assert!(is_worse(0.1, 0.0, Better::Lower) && !is_worse(0.0, 0.0, Better::Lower));
}

#[test]
fn without_a_single_link_nothing_is_compared() {
    let text = TEXT.replace("\"webrtc@wifi\", \"webrtc@lte\", ", "");
    let scenario = Scenario::parse("t.toml", &text, &[]).unwrap();
    assert_eq!(Outcome::new(&scenario).worse_than_single(), []);
}

#[test]
fn noticed_values_are_metrics() {
    for name in super::NOTICED {
        let metric = crate::measure::metrics::find(name).expect("a metric");
        assert_eq!(metric.name, name);
    }
}
