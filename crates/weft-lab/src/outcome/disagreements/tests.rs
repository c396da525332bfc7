use super::*;
use crate::engine::emu::Client;
use crate::run::as_seen_by;

fn row(metric: &str, mean: f64) -> Row {
    Row {
        system: "webrtc".to_owned(),
        metric: metric.to_owned(),
        unit: "1",
        mean,
        ci95: [None, None],
        median: None,
        n: 1,
    }
}

fn agrees(least: f64, sim: f64, emu: f64) -> bool {
    compared(
        &row("queue_ms_mean", emu),
        &row("queue_ms_mean", sim),
        least,
    )
    .agrees
}

#[test]
fn a_tenth_is_the_threshold() {
    assert!(agrees(0.0, 100.0, 110.0));
    assert!(!agrees(0.0, 100.0, 110.1));
    assert!(!agrees(0.0, 100.0, 89.9));
}

#[test]
fn a_tenth_of_almost_nothing_is_nothing() {
    assert!(agrees(2.0, 0.5, 2.4));
    assert!(!agrees(2.0, 0.5, 2.6));
    assert!(agrees(2.0, 0.0, 1.0));
    assert!(!agrees(2.0, 0.0, 3.0));
}

#[test]
fn a_client_is_compared_with_the_first_system_that_it_stands_for() {
    let text = r#"
title = "t"
duration = "10s"
systems = ["webrtc", "single/gcc", "far", "weft@a"]
[links.a]
rate = "5mbit"
[links.b]
rate = "5mbit"
[flows.call]
kind = "call"
[system.far]
scheduler = "webrtc"
set = { links.a.delay = "100ms" }
"#;
    let sim = Scenario::parse("t.toml", text, &[]).unwrap();
    let of = |client: &Client| {
        let emu = as_seen_by(client, &sim);
        let names = emu.variants.iter();
        let pairs = names.map(|v| (v.name.clone(), counterpart(&sim, &emu, &v.name).unwrap()));
        pairs.collect::<Vec<_>>()
    };
    let chromium = of(&Client::Chromium);
    let pairs: Vec<_> = chromium
        .iter()
        .map(|(a, b)| (a.as_str(), b.as_str()))
        .collect();
    let expected = [
        ("chromium (webrtc)", "webrtc"),
        ("chromium (far)", "far"),
        ("chromium@a", "weft@a"),
    ];
    assert_eq!(pairs, expected);
    assert!(of(&Client::Weft).iter().all(|(here, there)| here == there));
}
