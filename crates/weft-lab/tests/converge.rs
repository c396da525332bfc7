//! Scenario set `converge`: every scenario runs and gives the metrics that it requests.

mod simulated;

use std::path::Path;

use simulated::outcome;
use weft_lab::{Scenario, catalogue};

/// Metrics without a value if there are no freezes or repair packets.
const MAY_BE_MISSING: [&str; 2] = ["freeze_ms_mean", "fec_utilisation"];

fn check(name: &str, set: &[&str]) {
    let entry = catalogue::find(name).unwrap().remove(0);
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let scenario = entry
        .scenario(&set)
        .unwrap_or_else(|error| panic!("{error}"));
    let outcome = outcome(&scenario);
    let failed = outcome.failed();
    assert!(failed.is_empty(), "{name}: {failed:?}");
    let rows = outcome.rows();
    for variant in &scenario.variants {
        for metric in &scenario.metrics {
            let found = rows
                .iter()
                .any(|r| r.system == variant.name && r.metric == *metric);
            let may_miss = MAY_BE_MISSING.contains(&metric.as_str());
            assert!(
                found || may_miss,
                "{name}: {} has no {metric}",
                variant.name
            );
        }
    }
    let checks = outcome.checks();
    let bad: Vec<_> = checks.iter().filter(|c| !c.check.ok).collect();
    assert!(bad.is_empty(), "{name}: {bad:#?}");
    // Every published value has its system here.
    for compared in outcome.compared() {
        let named = |v: &weft_lab::scenario::Variant| v.name == compared.system;
        assert!(scenario.variants.iter().any(named), "{name}: {compared:?}");
    }
    assert_eq!(outcome.compared().is_empty(), scenario.published.is_empty());
}

const ONE: &str = "seeds=1";

#[test]
fn the_three_scenes_run_with_every_system_and_number_of_cameras() {
    for name in [
        "converge/driving",
        "converge/walking",
        "converge/stationary",
    ] {
        check(name, &[ONE, "duration=2s"]);
    }
}

#[test]
fn the_ablations_the_sweep_and_the_pictures_run() {
    check("converge/feedback-ablation", &[ONE, "duration=3s"]);
    check("converge/fec-sweep", &[ONE, "duration=1s"]);
    check("converge/psnr", &[ONE, "duration=2s"]);
    check("converge/path-repair", &[ONE, "duration=2s"]);
}

#[test]
fn the_scenarios_as_of_2022_run() {
    for entry in catalogue::find("converge/as-of-2022").unwrap() {
        check(&entry.name, &[ONE, "duration=1s"]);
    }
}

/// Four runs of a minute; `docs/results/converge.md` has twenty of three.
#[test]
fn converge_freezes_least_as_of_2022() {
    let entry = catalogue::find("converge/as-of-2022-walking")
        .unwrap()
        .remove(0);
    let set = [
        "seeds=4",
        "duration='1min'",
        "flows.call.streams=1",
        "systems=['m-rtp', 'm-tput', 'srtt', 'converge']",
        "metrics=['freeze_s']",
        "published=[]",
    ];
    let scenario = entry.scenario(&set.map(str::to_owned)).unwrap();
    let outcome = outcome(&scenario);
    let rows = outcome.rows();
    let frozen = |system: &str| {
        let row = rows.iter().find(|row| row.system.starts_with(system));
        row.unwrap_or_else(|| panic!("no {system}")).mean
    };
    // 8.4 s; 11.9, 14.5 and 14.5.
    let converge = frozen("converge");
    assert!((4.0..12.0).contains(&converge), "{converge}");
    for rival in ["srtt", "m-tput", "m-rtp"] {
        let rival = (rival, frozen(rival));
        assert!(converge * 1.2 < rival.1, "{converge} beside {rival:?}");
    }
}

#[test]
fn the_walk_out_of_a_wifi_cell_runs_with_every_system() {
    let sections = "sections=['1s', '2s', '3s', '4s']";
    check("converge/radio-walk", &[ONE, "duration=5s", sections]);
}

#[test]
fn only_a_caller_on_wifi_alone_loses_the_call_out_of_range() {
    let entry = catalogue::find("converge/radio-walk").unwrap().remove(0);
    let set = [
        ONE,
        "systems=['webrtc@wifi', 'webrtc@lte', 'weft@wifi+lte']",
        "baseline='webrtc@lte'",
    ];
    let scenario = entry.scenario(&set.map(str::to_owned)).unwrap();
    let outcome = outcome(&scenario);
    let rows = outcome.rows();
    let value = |system: &str, metric: &str| {
        let row = rows
            .iter()
            .find(|r| r.system == system && r.metric == metric);
        row.unwrap_or_else(|| panic!("{system} has no {metric}"))
            .mean
    };
    // At home, on the way out and back: with the neighbours' traffic.
    for part in ["throughput_mbps#1", "throughput_mbps#5"] {
        let mbps = value("webrtc@wifi", part);
        // 10 Mbit/s, and 40 repair packets per 100 at 1 % loss.
        assert!((1.0..14.5).contains(&mbps), "{part}: {mbps}");
    }
    // From 75 to 105 s there is no WiFi, except for moments of better signal while
    // walking: one is at 102 s, after which the pictures freeze again.
    let frozen = value("webrtc@wifi", "freeze_s#3");
    assert!((26.0..=30.0).contains(&frozen), "{frozen}");
    assert!(value("webrtc@wifi", "throughput_mbps#3") < 0.2);
    for system in ["webrtc@lte", "weft@wifi+lte"] {
        let mbps = value(system, "throughput_mbps#3");
        assert!((1.0..10.5).contains(&mbps), "{system}: {mbps}");
    }
    let frozen = value("weft@wifi+lte", "freeze_s");
    assert!(frozen < 5.0, "{frozen}");
}

#[test]
fn measured_traces_are_compared_where_there_are_some() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let traces = root.join("../shared/data/traces/paired");
    if !traces.is_dir() {
        weft_testing::skipped("no measured traces in ../shared/data beside the project");
        return;
    }
    let traces = traces.display();
    let links = [
        format!("wifi=trace={traces}/*_wifi.csv,delay=15ms"),
        format!("cell=trace={traces}/*_cellular.csv,delay=35ms"),
    ];
    let text = catalogue::comparison(&links, 1).unwrap();
    let scenario = Scenario::parse("compare", &text, &["duration=2s".into()]).unwrap();
    assert!(scenario.seeds > 10, "{} pairs", scenario.seeds);
    let outcome = outcome(&scenario);
    assert!(outcome.failed().is_empty(), "{:?}", outcome.failed());
    assert_eq!(outcome.traces().len(), scenario.seeds as usize);
    let worse = outcome.worse_than_single();
    let fps = worse
        .iter()
        .find(|w| w.system == "weft" && w.metric == "fps");
    assert_eq!(fps.unwrap().n, scenario.seeds as usize);
}
