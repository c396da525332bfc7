use super::Outcome;
use super::checks::worst;
use super::published::verdict;
use crate::measure::check::Check;
use crate::measure::series::Series;
use crate::run::{Participants, Run, Task};
use crate::scenario::Scenario;
use crate::statistics::{Centre, Estimate};

fn all_flows(variant: usize, seed: u64) -> Task {
    Task {
        variant,
        seed,
        participants: Participants::All,
    }
}

fn estimate(centre: f64, low: f64, high: f64) -> Estimate {
    Estimate {
        centre,
        interval: Some((low, high)),
        n: 5,
    }
}

#[test]
fn a_verdict_weighs_the_interval() {
    assert_eq!(verdict(&estimate(10.0, 9.6, 10.4), 9.5, 10.5), "agrees");
    assert_eq!(verdict(&estimate(10.4, 9.9, 10.9), 9.5, 10.5), "agrees");
    // Wider than the range, and a range that is open on one side.
    assert_eq!(verdict(&estimate(10.0, 9.0, 11.0), 9.5, 10.5), "unclear");
    let open = f64::INFINITY;
    assert_eq!(verdict(&estimate(10.0, 9.0, 11.0), 9.5, open), "agrees");
    let single = Estimate::of(&[10.0], Centre::Mean).unwrap();
    assert_eq!(verdict(&single, 10.0, 10.0), "agrees");
    assert_eq!(verdict(&estimate(11.0, 9.0, 13.0), 9.5, 10.5), "unclear");
    assert_eq!(verdict(&estimate(12.0, 11.0, 13.0), 9.5, 10.5), "higher");
    assert_eq!(verdict(&estimate(8.0, 7.0, 9.0), 9.5, 10.5), "lower");
}

#[test]
fn notes_name_the_run_that_they_are_about() {
    let text = "title = \"t\"\nduration = \"1s\"\nsystems = [\"weft\", \"single\"]\n[links.a]\n\
                spec = \"rate=1mbit\"\n[flows.call]\nkind = \"call\"\n";
    let scenario = Scenario::parse("t.toml", text, &["seeds=2".to_owned()]).unwrap();
    let mut outcome = Outcome::new(&scenario);
    for (variant, seed, own) in [(1, 2, Some("late")), (0, 1, None), (1, 1, Some("late"))] {
        outcome.add(Run {
            task: all_flows(variant, seed),
            values: Vec::new(),
            competing: Vec::new(),
            series: Series::default(),
            percentiles: Default::default(),
            checks: Vec::new(),
            events: 0,
            notes: ["version 1"]
                .into_iter()
                .chain(own)
                .map(str::to_owned)
                .collect(),
        });
    }
    let notes = ["version 1", "single, seed 1: late", "single, seed 2: late"];
    assert_eq!(outcome.notes(), notes);
}

#[test]
fn the_check_nearer_to_its_limit_is_kept() {
    for (what, limit, less, more) in [("late_ms", 1.0, 0.2, 0.9), ("unlogged", 0.0, 0.0, 3.0)] {
        let check = |measured| Check {
            of: "emulator".into(),
            what,
            configured: limit,
            measured,
            ok: measured <= limit,
        };
        for order in [[less, more], [more, less]] {
            let mut kept = Vec::new();
            worst(&mut kept, vec![check(order[0])]);
            worst(&mut kept, vec![check(order[1])]);
            assert_eq!(kept[0].measured, more, "{what}");
        }
    }
}

#[test]
fn the_worst_check_of_all_seeds_is_kept_in_any_order() {
    let check = |measured: f64, ok| Check {
        of: "wifi".into(),
        what: "queue_ms",
        configured: 100.0,
        measured,
        ok,
    };
    let (calm, full, over) = (check(20.0, true), check(99.0, true), check(130.0, false));
    for order in [
        [&calm, &full, &over],
        [&over, &calm, &full],
        [&full, &over, &calm],
    ] {
        let mut kept = Vec::new();
        for each in order {
            worst(&mut kept, vec![each.clone()]);
        }
        assert_eq!(kept, std::slice::from_ref(&over));
    }
    let mut kept = Vec::new();
    worst(&mut kept, vec![full.clone()]);
    worst(&mut kept, vec![calm.clone()]);
    assert_eq!(kept, [full]);
}
