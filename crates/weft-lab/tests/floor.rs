//! System `floor`: the bound that no call can beat, compared with calls.

mod simulated;

use std::collections::BTreeMap;

use weft_lab::Scenario;
use weft_lab::outcome::Outcome;

fn scenario(text: &str) -> Scenario {
    let text = format!("title = \"t\"\n{text}\n[flows.call]\nkind = \"call\"\n");
    Scenario::parse("t.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"))
}

fn outcome(scenario: &Scenario) -> Outcome<'_> {
    let outcome = simulated::outcome(scenario);
    assert!(outcome.failed().is_empty(), "{:?}", outcome.failed());
    outcome
}

/// Returns the metrics of a system, to a thousandth.
fn values(outcome: &Outcome<'_>, system: &str) -> BTreeMap<String, f64> {
    let rows = outcome.rows().into_iter();
    let own = rows.filter(|row| row.system == system);
    own.map(|row| (row.metric, (row.mean * 1e3).round() / 1e3))
        .collect()
}

#[test]
fn it_has_what_people_see_and_nothing_that_it_does_not_know() {
    let scenario = scenario(
        r#"
duration = "10s"
seeds = 2
systems = ["weft", "floor", "floor@a"]
[links]
b = "rate=1mbit,delay=40ms"
[links.a]
spec = "rate=1mbit,delay=25ms"
steps = [{ at = "4s", rate = "0mbit" }, { at = "6s", rate = "1mbit" }]
[flows.load]
kind = "udp"
rate = "100kbit"
via = ["a"]
"#,
    );
    let outcome = outcome(&scenario);
    let floor = values(&outcome, "floor@a");
    // 685 bytes at 1 Mbit/s take 5.48 ms; from the picture at 3967 ms to the one at 6000
    // ms.
    assert_eq!(floor["e2e_ms_p95"], 30.48);
    assert_eq!(floor["freeze_s"], 2.033);
    assert_eq!((floor["freeze_count"], floor["fps"]), (1.0, 24.0));
    let both = values(&outcome, "floor");
    assert_eq!((both["freeze_s"], both["fps"]), (0.0, 30.0));
    assert_eq!(both["e2e_ms_p95"], 45.48);

    let names = floor.keys().filter(|name| !name.contains('.'));
    let names: Vec<&str> = names.map(String::as_str).collect();
    let known = [
        "e2e_ms_mean",
        "e2e_ms_p95",
        "e2e_ms_p99",
        "e2e_ms_worst_s",
        "fps",
        "fps_norm",
        "fps_seen",
        "freeze_count",
        "freeze_ms_mean",
        "freeze_s",
        "ifd_ms",
    ];
    assert_eq!(names, known);
    // Other systems have their own.
    let has = |name: &str| floor.contains_key(name);
    assert!(has("throughput_mbps.load") && has("fps.call") && !has("throughput_mbps.call"));

    // It is compared like any other system.
    let differences = outcome.differences();
    let with_floor = differences.iter().filter(|d| d.system == "floor");
    assert!(with_floor.into_iter().any(|d| d.metric == "e2e_ms_p95"));
}

/// A call with fewer pictures has a longer freeze threshold, and jitter or small pictures
/// may favour it.
const TOLERANCE_S: f64 = 0.2;

#[test]
fn on_generated_traces_no_system_freezes_less() {
    let scenario = scenario(
        r#"
duration = "20s"
seeds = 6
systems = ["floor", "floor@lte", "weft", "converge", "webrtc@lte", "webrtc@wifi"]
[links]
wifi = "trace=generated:walking/wifi,delay=15ms"
lte = "trace=generated:driving/lte,delay=30ms"
"#,
    );
    let outcome = outcome(&scenario);
    let of = |system: &str, metric: &str| {
        let variants = scenario.variants.iter();
        let variant = variants.clone().position(|v| v.name == system);
        outcome.values(variant.expect("a system"), metric)
    };
    let beside = |floor: &str, system: &str, metric: &str| {
        let (floor, other) = (of(floor, metric), of(system, metric));
        let both = floor.into_iter().zip(other);
        let both = both.map(|(floor, other)| (floor.expect("a value"), other.expect("a value")));
        both.zip(1..).collect::<Vec<_>>()
    };
    let pairs = [
        ("floor", "floor@lte"),
        ("floor", "weft"),
        ("floor", "converge"),
        ("floor", "webrtc@lte"),
        ("floor", "webrtc@wifi"),
        ("floor@lte", "webrtc@lte"),
    ];
    for (floor, system) in pairs {
        for ((least, frozen), seed) in beside(floor, system, "freeze_s") {
            let text = format!("{system}, seed {seed}: {frozen} s, the floor {least} s");
            assert!(least <= frozen + TOLERANCE_S, "{text}");
        }
        for ((least, latency), seed) in beside(floor, system, "e2e_ms_p95") {
            let text = format!("{system}, seed {seed}: {latency} ms, the floor {least} ms");
            assert!(least <= latency, "{text}");
        }
    }
    // The number of runs worse than the best single link covers calls, and the floor is
    // not a call.
    let worse = outcome.worse_than_single();
    let of_weft = worse
        .iter()
        .find(|w| w.system == "weft" && w.metric == "freeze_s");
    let singles = [of("webrtc@lte", "freeze_s"), of("webrtc@wifi", "freeze_s")];
    let best = |seed: usize| {
        let values = singles.iter().filter_map(|values| values[seed]);
        values.fold(f64::INFINITY, f64::min)
    };
    let frozen = of("weft", "freeze_s").into_iter().flatten().enumerate();
    let expected = frozen
        .filter(|(seed, frozen)| *frozen > best(*seed) * 1.05)
        .count();
    assert_eq!(of_weft.map(|w| w.worse), Some(expected));
}
