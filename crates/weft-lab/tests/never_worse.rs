//! The promise: a call over several links is never worse than over the best of them
//! alone. Checks every run against bounds on both sides: not worse than the best link,
//! and not better than [the floor](weft_lab::scenario::SystemKind::Floor).

mod simulated;

use weft_lab::outcome::Outcome;
use weft_lab::{Scenario, catalogue};

/// Difference that users do not notice, and which therefore does not count.
const FROZEN_S: f64 = 0.3;
const FPS: f64 = 0.5;
const LATENCY: (f64, f64) = (1.1, 20.0);
/// Largest advantage of a call over the floor: `tests/floor.rs`.
const BELOW_FLOOR_S: f64 = 0.2;

/// Quality of a run for its users.
#[derive(Clone, Copy, Debug)]
struct Seen {
    frozen_s: f64,
    latency_ms: f64,
    /// Visible frames: a stall that ends with many frames at once is not better.
    fps: f64,
}

/// Run that is known to be worse by more than that, with a limit.
#[derive(Clone, Copy)]
struct Known {
    seed: usize,
    metric: &'static str,
    /// Minimum pictures per second, or maximum of other metrics.
    limit: f64,
}

struct Tried<'a> {
    outcome: Outcome<'a>,
    /// Command that prints these runs.
    command: String,
}

impl Tried<'_> {
    fn seen(&self, system: &str) -> Vec<Seen> {
        let variants = &self.outcome.scenario().variants;
        let variant = variants.iter().position(|v| v.name == system);
        let variant = variant.unwrap_or_else(|| panic!("no system {system}: {}", self.command));
        let values = |metric: &str| {
            let values = self.outcome.values(variant, metric).into_iter();
            let values = values.map(|value| value.expect("every call has it"));
            values.collect::<Vec<f64>>()
        };
        let (frozen, latency, fps) = (values("freeze_s"), values("e2e_ms_p95"), values("fps_seen"));
        let all = frozen.into_iter().zip(latency).zip(fps);
        let seen = all.map(|((frozen_s, latency_ms), fps)| Seen {
            frozen_s,
            latency_ms,
            fps,
        });
        seen.collect()
    }
}

/// Runs `weft`, each link alone, and the floor.
fn try_all(scenario: &Scenario, command: String, known: &[Known]) {
    let tried = Tried {
        outcome: simulated::outcome(scenario),
        command,
    };
    let failed = tried.outcome.failed();
    assert!(failed.is_empty(), "{failed:?}: {}", tried.command);
    let names = scenario.variants.iter().map(|v| v.name.as_str());
    let singles = names.filter(|name| name.starts_with("webrtc@"));
    let singles: Vec<Vec<Seen>> = singles.map(|name| tried.seen(name)).collect();
    let (call, floor) = (tried.seen("weft"), tried.seen("floor"));
    for (index, (call, floor)) in call.into_iter().zip(floor).enumerate() {
        let seed = index + 1;
        let alone = singles.iter().map(|seen| seen[index]);
        let by = |a: &Seen, b: &Seen| {
            let latency = a.latency_ms.total_cmp(&b.latency_ms);
            a.frozen_s.total_cmp(&b.frozen_s).then(latency)
        };
        let best = alone.min_by(by).expect("links");
        let known = |metric: &str| {
            let mut known = known.iter().filter(|k| k.seed == seed);
            known.find(|k| k.metric == metric).map(|k| k.limit)
        };
        let text = format!(
            "seed {seed}: {call:?}, the best link {best:?}, the floor {floor:?}: {}",
            tried.command
        );
        let (part, ms) = LATENCY;
        let most = known("freeze_s").unwrap_or(best.frozen_s + FROZEN_S);
        assert!(call.frozen_s <= most, "{text}");
        let most = known("e2e_ms_p95").unwrap_or(best.latency_ms * part + ms);
        assert!(call.latency_ms <= most, "{text}");
        let least = known("fps").unwrap_or(best.fps - FPS);
        assert!(call.fps >= least, "{text}");
        assert!(call.frozen_s >= floor.frozen_s - BELOW_FLOOR_S, "{text}");
        assert!(call.latency_ms >= floor.latency_ms, "{text}");
        assert!(call.fps <= 30.1, "{text}");
    }
}

/// Returns the settings that make a scenario compare only these systems.
fn settings(systems: &[String], seconds: u32, seeds: usize) -> [String; 4] {
    [
        format!("duration='{seconds}s'"),
        format!("seeds={seeds}"),
        format!("systems={systems:?}"),
        "baseline='weft'".to_owned(),
    ]
}

fn over<'a>(links: impl Iterator<Item = &'a str>) -> Vec<String> {
    let singles = links.map(|link| format!("webrtc@{link}"));
    let others = ["weft", "floor"].map(str::to_owned);
    singles.chain(others).collect()
}

/// Runs an embedded scenario, over these links, with this many seeds.
fn embedded(name: &str, links: [&str; 2], seconds: u32, seeds: usize, known: &[Known]) {
    let systems = over(links.into_iter());
    let found = catalogue::find(name).unwrap_or_else(|error| panic!("{error}"));
    let scenario = found[0].scenario(&settings(&systems, seconds, seeds));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let command = format!(
        "weft lab run {name} --duration {seconds} --seeds {seeds} --set baseline=weft --systems {}",
        systems.join(",")
    );
    try_all(&scenario, command, known);
}

/// All scenarios of `invariant/` have these two links.
fn invariant(name: &str, seeds: usize, known: &[Known]) {
    let name = format!("invariant/{name}");
    embedded(&name, ["near", "far"], 40, seeds, known);
}

#[test]
fn a_walk_with_wifi_and_a_steady_cell_as_in_the_readme() {
    let links = [
        "wifi=trace=generated:walking/wifi,delay=10ms",
        "lte=rate=5mbit,delay=40ms",
    ];
    let text = catalogue::comparison(&links.map(str::to_owned), 1).expect("links with names");
    let systems = over(["wifi", "lte"].into_iter());
    let (seconds, seeds) = (60, 6);
    let scenario = Scenario::parse("compare", &text, &settings(&systems, seconds, seeds));
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let command = format!(
        "weft lab compare --link {} --duration {seconds} --seeds {seeds} --systems {}",
        links.join(" --link "),
        systems.join(",")
    );
    // 0.71 s, while LTE alone never freezes: one of two worse seeds in twenty.
    let known = Known {
        seed: 4,
        metric: "freeze_s",
        limit: 0.8,
    };
    try_all(&scenario, command, &[known]);
}

#[test]
fn links_that_keep_their_capacity() {
    for name in ["delays", "equal", "lossy", "narrow", "rates"] {
        invariant(name, 2, &[]);
    }
}

#[test]
fn links_that_die_or_lose_most_of_their_capacity() {
    invariant("collapse", 2, &[]);
    invariant("dying", 2, &[]);
}

#[test]
fn generated_links() {
    // 97 ms, compared with 66 for the better link.
    let known = Known {
        seed: 5,
        metric: "e2e_ms_p95",
        limit: 110.0,
    };
    invariant("cells", 5, &[known]);
    invariant("driving", 2, &[]);
    invariant("walking", 2, &[]);
}

#[test]
fn calls_of_10_mbit_that_are_driven_and_walked() {
    embedded("calm/driving", ["verizon", "tmobile"], 40, 7, &[]);
    embedded("calm/walking", ["wifi", "tmobile"], 40, 3, &[]);
}
