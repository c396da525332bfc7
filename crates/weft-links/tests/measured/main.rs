//! Comparison of generated traces with measured ones. The measured traces have other
//! owners and are read from their own directory; without them, the tests cover only the
//! generated ones. `cargo test -p weft-links --test measured -- --nocapture` prints the
//! table of docs/models/links.md.

use std::fs;
use std::path::PathBuf;
use weft_links::{DirectionCorrelation, Generated, GeneratedRates, Trace, TraceStatistics};
use weft_units::{Duration, Rate, Rng};

/// Time step of the measured CSV traces.
const SECOND: Duration = Duration::from_secs(1);
/// Time step of the generated traces, for measured traces of that resolution.
const SLOT: Duration = GeneratedRates::SLOT;
/// Length of most measured CSV traces, in seconds.
const SECONDS: usize = 100;
const SEEDS: u64 = 200;

/// Generated trace and the measured ones that it models.
struct Pair {
    generated: &'static str,
    measured: &'static [&'static str],
}

const PAIRS: [Pair; 9] = [
    Pair {
        generated: "generated:stationary/wifi",
        measured: &["paired/11_1_wifi.csv"],
    },
    Pair {
        generated: "generated:stationary/lte",
        measured: &["paired/11_1_cellular.csv"],
    },
    Pair {
        generated: "generated:stationary/lte2",
        measured: &[],
    },
    Pair {
        generated: "generated:walking/wifi",
        measured: &[
            "paired/7_1_wifi.csv",
            "paired/7_2_wifi.csv",
            "paired/8_1_wifi.csv",
            "paired/8_4_wifi.csv",
            "paired/11_4_wifi.csv",
            "paired/12_1_wifi.csv",
            "paired/12_2_wifi.csv",
            "paired/13_1_wifi.csv",
            "paired/13_3_wifi.csv",
        ],
    },
    Pair {
        generated: "generated:walking/lte",
        measured: &[
            "paired/7_1_cellular.csv",
            "paired/7_2_cellular.csv",
            "paired/8_1_cellular.csv",
            "paired/8_4_cellular.csv",
            "paired/11_4_cellular.csv",
            "paired/12_1_cellular.csv",
            "paired/12_2_cellular.csv",
        ],
    },
    Pair {
        generated: "generated:walking/lte2",
        measured: &[
            "paired/13_1_cellular.csv",
            "paired/13_3_cellular.csv",
            "paired/22_1_cellular.csv",
        ],
    },
    Pair {
        generated: "generated:driving/wifi",
        measured: &[
            "paired/21_1_wifi.csv",
            "paired/22_1_wifi.csv",
            "paired/23_1_wifi.csv",
        ],
    },
    Pair {
        generated: "generated:driving/lte",
        measured: &[
            "mahimahi/TMobile-LTE-short.down",
            "mahimahi/TMobile-LTE-short.up",
        ],
    },
    Pair {
        generated: "generated:driving/lte2",
        measured: &[
            "mahimahi/Verizon-LTE-short.down",
            "mahimahi/Verizon-LTE-short.up",
        ],
    },
];

/// Returns the directory of the measured traces, next to the project.
fn directory() -> Option<PathBuf> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let directory = root.join("../shared/data/traces");
    directory.is_dir().then_some(directory)
}

fn measured(name: &str) -> Option<Trace> {
    let text = fs::read_to_string(directory()?.join(name)).ok()?;
    Some(Trace::parse(name, &text).expect("a trace that can be played"))
}

fn statistics_of_measured(names: &[&str], window: Duration) -> Option<TraceStatistics> {
    let all: Option<Vec<TraceStatistics>> = names
        .iter()
        .map(|name| {
            Some(TraceStatistics::of(
                &measured(name)?.windows(window),
                window,
            ))
        })
        .collect();
    all.filter(|all| !all.is_empty())
        .map(|all| TraceStatistics::mean_of(&all))
}

/// Returns the window means of a generated trace.
fn windows(generated: Generated, seed: u64, window: Duration) -> Vec<Rate> {
    let slots = (window.as_nanos() / GeneratedRates::SLOT.as_nanos()) as usize;
    let rates: Vec<Rate> = generated
        .rates(&Rng::new(seed))
        .take(SECONDS * 10)
        .collect();
    let mean = |window: &[Rate]| {
        window
            .iter()
            .copied()
            .sum::<Rate>()
            .mul_f64(1.0 / slots as f64)
    };
    rates.chunks(slots).map(mean).collect()
}

fn statistics_of_generated(name: &str, window: Duration) -> TraceStatistics {
    let generated: Generated = name.parse().expect("a generated trace");
    let all: Vec<TraceStatistics> = (0..SEEDS)
        .map(|seed| TraceStatistics::of(&windows(generated, seed, window), window))
        .collect();
    TraceStatistics::mean_of(&all)
}

fn row(name: &str, count: usize, window: Duration, s: &TraceStatistics) {
    let window = window.as_secs_f64();
    println!(
        "| {name} | {window} | {count} | {:.1} | {:.2} | {:.2} | {:.1} % | {:.1} |",
        s.mean.as_mbps(),
        s.variation,
        s.correlation,
        s.outage_share * 100.0,
        s.outage_length.as_secs_f64(),
    );
}

#[test]
fn generated_traces_resemble_the_measured_ones_that_they_stand_for() {
    if directory().is_none() {
        weft_testing::skipped("no measured traces in ../shared/data beside the project");
    }
    println!(
        "| trace | window, s | number | mean, Mbit/s | variation | correlation | out | outage, s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut far = Vec::new();
    for pair in &PAIRS {
        let generated = compare(pair, SECOND);
        let (generated, Some(measured)) = generated else {
            continue;
        };
        let ratio = generated.mean.as_mbps() / measured.mean.as_mbps();
        let near = [
            (0.85..1.15).contains(&ratio),
            (generated.variation - measured.variation).abs() < 0.1,
            (generated.correlation - measured.correlation).abs() < 0.12,
            (generated.outage_share - measured.outage_share).abs() < 0.05,
        ];
        if near.contains(&false) {
            far.push((pair.generated, near));
        }
    }
    for pair in &PAIRS {
        if pair.measured.iter().any(|name| name.contains("mahimahi")) {
            compare(pair, SLOT);
        }
    }
    assert!(
        far.is_empty(),
        "mean, variation, correlation, outages: {far:?}"
    );
}

/// Prints and returns the statistics of both traces.
fn compare(pair: &Pair, window: Duration) -> (TraceStatistics, Option<TraceStatistics>) {
    let generated = statistics_of_generated(pair.generated, window);
    let measured = statistics_of_measured(pair.measured, window);
    if let Some(measured) = &measured {
        row("measured", pair.measured.len(), window, measured);
    }
    let name = format!("`{}`", pair.generated);
    row(&name, SEEDS as usize, window, &generated);
    (generated, measured)
}

/// Returns the correlation of the windows of two series (Pearson).
fn correlation(a: &[Rate], b: &[Rate]) -> f64 {
    let n = a.len().min(b.len());
    let mbps = |rates: &[Rate]| -> Vec<f64> { rates[..n].iter().map(|r| r.as_mbps()).collect() };
    let deviations = |values: Vec<f64>| -> Vec<f64> {
        let mean = values.iter().sum::<f64>() / n as f64;
        values.into_iter().map(|v| v - mean).collect()
    };
    let (a, b) = (deviations(mbps(a)), deviations(mbps(b)));
    let product = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// Returns the share of the windows below a quarter of the mean in one direction in which
/// the other direction is also below a quarter of its mean.
fn low_together(pairs: &[[Vec<Rate>; 2]]) -> f64 {
    let (mut low, mut both) = (0, 0);
    for ways in pairs {
        let is_low = ways.each_ref().map(|rates| {
            let mean = rates.iter().copied().sum::<Rate>().as_mbps() / rates.len() as f64;
            rates
                .iter()
                .map(|r| r.as_mbps() < mean / 4.0)
                .collect::<Vec<bool>>()
        });
        let [a, b] = &is_low;
        low += a.iter().chain(b).filter(|low| **low).count();
        both += 2 * a.iter().zip(b).filter(|(a, b)| **a && **b).count();
    }
    both as f64 / low.max(1) as f64
}

#[test]
fn both_ways_of_generated_traces_go_together_as_measured_ones_do() {
    if directory().is_none() {
        weft_testing::skipped("no measured traces in ../shared/data beside the project");
    }
    println!("| both ways, windows of 1 s | pairs | correlation | low together |");
    println!("|---|---|---|---|");
    let told = |name: &str, pairs: &[[Vec<Rate>; 2]]| {
        let each = pairs.iter().map(|[a, b]| correlation(a, b));
        let mean = each.sum::<f64>() / pairs.len() as f64;
        let low = low_together(pairs);
        println!(
            "| {name} | {} | {mean:.2} | {:.0} % |",
            pairs.len(),
            low * 100.0
        );
        (mean, low)
    };
    let both_ways = |ways: &[&str]| -> Option<[Vec<Rate>; 2]> {
        let [a, b] = ways else { return None };
        Some([measured(a)?.windows(SECOND), measured(b)?.windows(SECOND)])
    };
    let is_both_ways = |pair: &&Pair| pair.measured.iter().any(|n| n.contains("mahimahi"));
    let pairs: Vec<_> = PAIRS
        .iter()
        .filter(is_both_ways)
        .filter_map(|pair| both_ways(pair.measured))
        .collect();
    let measured = (!pairs.is_empty()).then(|| told("measured, driving", &pairs));
    for Pair {
        generated: name, ..
    } in &PAIRS
    {
        let generated: Generated = name.parse().expect("a generated trace");
        let drawn = |seed| {
            ["forward", "backward"].map(|direction| {
                let mut generated = generated;
                let link = Rng::new(seed);
                generated.seed_by(&link, &link, direction);
                windows(generated, 0, SECOND)
            })
        };
        let pairs: Vec<_> = (0..SEEDS).map(drawn).collect();
        let (mean, low) = told(&format!("`{name}`"), &pairs);
        assert_eq!(generated.ways, DirectionCorrelation::AsMeasured);
        if let Some((measured, measured_low)) = measured.filter(|_| name.contains("driving/lte")) {
            assert!((mean - measured).abs() < 0.12, "{name}: {mean}, {measured}");
            assert!(
                (low - measured_low).abs() < 0.2,
                "{name}: {low}, {measured_low}"
            );
        }
    }
}

#[test]
fn measured_traces_are_all_read_with_their_volume() {
    let Some(directory) = directory() else {
        weft_testing::skipped("no measured traces in ../shared/data beside the project");
        return;
    };
    let mut count = 0;
    for set in ["paired", "mahimahi"] {
        for entry in fs::read_dir(directory.join(set)).expect("a directory") {
            let name = entry.expect("an entry").file_name();
            let name = format!("{set}/{}", name.to_string_lossy());
            let text = fs::read_to_string(directory.join(&name)).expect("a text");
            let trace = Trace::parse(&name, &text).expect("a trace that can be played");
            // Counted from the text in a second way.
            let bytes: u64 = match set {
                "mahimahi" => 1504 * text.lines().count() as u64,
                _ => text
                    .lines()
                    .filter_map(|l| l.split(',').nth(1)?.trim().parse::<u64>().ok())
                    .sum(),
            };
            let seconds = trace.length().as_secs_f64();
            let mbps = bytes as f64 * 8.0 / seconds / 1e6;
            let off = (trace.mean().as_mbps() - mbps).abs();
            assert!(off < 1e-4, "{name}: {:?} for {mbps} Mbps", trace.mean());
            count += 1;
        }
    }
    assert!(count >= 30, "{count} traces");
}
