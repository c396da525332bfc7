use crate::measure::series::Series;
use crate::outcome::Outcome;
use crate::run::{Participants, Run, Task};
use crate::scenario::Scenario;

/// A call that starts at second 2, sampled twice a second.
const TEXT: &str = "title = \"t\"\nduration = \"4s\"\nsystems = [\"webrtc\"]\n[links.line]\n\
                    spec = \"rate=1mbit\"\n[flows.call]\nkind = \"call\"\nstart = \"2s\"\n\
                    [flows.tcp]\nkind = \"tcp\"\n";

fn run(seed: u64, call: [f64; 8]) -> Run {
    let mut series = Series {
        t: (1..=8).map(|half| f64::from(half) * 0.5).collect(),
        columns: Vec::new(),
        ..Series::default()
    };
    let some = |values: [f64; 8]| values.into_iter().map(Some).collect();
    series.add("rate_mbps", "call", "Mbit/s", some(call));
    series.add("owd_ms", "call", "ms", some([9.0; 8]));
    series.add("rate_mbps", "tcp", "Mbit/s", some([0.5; 8]));
    series.add("capacity_mbps", "line", "Mbit/s", some([1.0; 8]));
    Run {
        task: Task {
            variant: 0,
            seed,
            participants: Participants::All,
        },
        values: Vec::new(),
        competing: Vec::new(),
        series,
        percentiles: Default::default(),
        checks: Vec::new(),
        events: 0,
        notes: Vec::new(),
    }
}

#[test]
fn a_profile_begins_with_the_call_and_has_the_quartiles_of_the_runs() {
    let scenario = Scenario::parse("t.toml", TEXT, &["seeds=5".to_owned()]).unwrap();
    let mut outcome = Outcome::new(&scenario);
    for seed in 1..=5_u64 {
        // In its first second 1 to 5, in its second one ten times as much.
        let rate = seed as f64;
        let call = [
            0.0,
            0.0,
            0.0,
            0.0,
            0.5 * rate,
            1.5 * rate,
            10.0 * rate,
            10.0 * rate,
        ];
        outcome.add(run(seed, call));
    }
    let profiles = outcome.profiles();
    let owners: Vec<_> = profiles.iter().map(|p| (p.name, p.of.as_str())).collect();
    let expected = [
        ("rate_mbps", "call"),
        ("rate_mbps", "tcp"),
        ("capacity_mbps", "line"),
    ];
    assert_eq!(owners, expected);
    let call = &profiles[0];
    assert_eq!((call.system.as_str(), call.from_s), ("webrtc", -1));
    let some = |values: [f64; 4]| values.map(Some).to_vec();
    assert_eq!(call.lower, some([0.0, 0.0, 2.0, 20.0]));
    assert_eq!(call.median, some([0.0, 0.0, 3.0, 30.0]));
    assert_eq!(call.upper, some([0.0, 0.0, 4.0, 40.0]));
    assert_eq!(profiles[1].median, some([0.5; 4]));
}

#[test]
fn a_run_that_ended_early_leaves_later_seconds_to_the_others() {
    let scenario = Scenario::parse("t.toml", TEXT, &["seeds=2".to_owned()]).unwrap();
    let mut outcome = Outcome::new(&scenario);
    let mut early = run(1, [1.0; 8]);
    early.series.t.truncate(6);
    outcome.add(early);
    outcome.add(run(2, [3.0; 8]));
    let call = &outcome.profiles()[0];
    assert_eq!(call.median, [2.0, 2.0, 2.0, 3.0].map(Some).to_vec());
}
