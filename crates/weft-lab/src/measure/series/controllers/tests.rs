use std::sync::atomic::AtomicBool;

use crate::engine::sim::Simulator;
use crate::measure::series::{Column, Series};
use crate::outcome::Outcome;
use crate::run;
use crate::scenario::Scenario;

/// A call that starts after 4 s.
const CALL: &str = r#"
title = "A call"
duration = "10s"
seeds = 1

[links.a]
spec = "rate=2mbit,delay=20ms"

[links.b]
spec = "rate=1mbit,delay=20ms"

[flows.call]
kind = "call"
max-rate = "4mbit"
start = "4s"
"#;

fn series(system: &str) -> Series {
    let set = [format!("systems=[{system:?}]")];
    let scenario = Scenario::parse("t.toml", CALL, &set).unwrap();
    let mut outcome = Outcome::new(&scenario);
    run::run(&scenario, &Simulator, 1, &AtomicBool::new(false), |ended| {
        outcome.add(ended.unwrap());
        Ok::<(), ()>(())
    })
    .unwrap();
    outcome.series(0, 1).unwrap().clone()
}

fn column<'a>(series: &'a Series, head: &str) -> &'a Column {
    let heads: Vec<String> = series.columns.iter().map(Column::head).collect();
    let at = heads.iter().position(|each| each == head);
    &series.columns[at.unwrap_or_else(|| panic!("no {head} in {heads:?}"))]
}

#[test]
fn values_of_controllers_have_the_time_of_their_report() {
    let series = series("nada@a");
    let heads = ["target_mbps", "cc_state", "rtt_ms", "cc_rest"];
    for name in heads {
        let column = column(&series, &format!("{name}.call"));
        assert_eq!(column.values.len(), series.t.len(), "{name}");
        for (t, value) in series.t.iter().zip(&column.values) {
            assert_eq!(value.is_some(), *t >= 4.0, "{name} at {t} s");
        }
    }
    // Before any feedback, NADA ramps up from the start rate; RMAX is 4 Mbit/s, so 10 ms
    // * 4 / r is the equilibrium congestion.
    let state = column(&series, "cc_state.call");
    let first = series.t.iter().position(|t| *t >= 4.0).unwrap();
    assert_eq!(state.word(first), Some("ramp-up"));
    assert_eq!(state.word(first - 1), None);
    let (rest, rate) = (
        column(&series, "cc_rest.call"),
        column(&series, "cc_reference.call"),
    );
    let last = series.t.len() - 1;
    let expected = 10.0 * 4.0 / rate.values[last].unwrap();
    assert!((rest.values[last].unwrap() - expected).abs() < 0.01 * expected);
}

#[test]
fn several_paths_have_a_controller_each() {
    let series = series("weft/scream");
    for link in ["a", "b"] {
        let window = column(&series, &format!("cc_window.call@{link}"));
        assert_eq!(window.unit, "kB");
        let target = column(&series, &format!("cc_target.call@{link}"));
        assert!(target.values.iter().flatten().all(|rate| *rate > 0.0));
    }
    assert!(!series.columns.iter().any(|c| c.head() == "cc_window.call"));
}

#[test]
fn words_are_thinned_to_words() {
    let series = series("gcc@a").thinned(10);
    let state = column(&series, "cc_state.call");
    assert_eq!(state.values.len(), series.t.len());
    for value in state.values.iter().flatten() {
        assert_eq!(value.fract(), 0.0, "{value} is no position of a word");
    }
}
