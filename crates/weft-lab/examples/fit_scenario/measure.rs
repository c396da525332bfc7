//! Results of a scenario with some values, compared with the published ones.

use std::convert::Infallible;
use std::sync::atomic::AtomicBool;
use std::thread;

use weft_lab::engine::sim::Simulator;
use weft_lab::outcome::Outcome;
use weft_lab::{Scenario, catalogue, run};

/// Published value to which a parameter is fitted, with our result.
#[derive(Clone, Debug)]
pub struct Row {
    /// System and metric.
    pub name: String,
    pub published: f64,
    pub here: f64,
}

impl Row {
    /// Returns the difference as the logarithm of the ratio: 0.1 is about 10 %. Results
    /// below a hundredth of the published value count as a hundredth.
    pub fn residual(&self) -> f64 {
        (self.here / self.published).max(0.01).ln()
    }
}

/// Reads a scenario of the catalogue with these arguments of `--set`.
pub fn read(name: &str, set: &[String]) -> Scenario {
    let found = catalogue::find(name).unwrap_or_else(|error| panic!("{error}"));
    let read = found[0].scenario(set);
    read.unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a scenario; returns the rows whose source has this mark. A range counts as its
/// middle.
pub fn fitted_rows(scenario: &Scenario) -> Vec<Row> {
    const MARK: &str = "(fitted)";
    let mut outcome = Outcome::new(scenario);
    let never = AtomicBool::new(false);
    let jobs = thread::available_parallelism().map_or(1, usize::from);
    let ended = run::run(scenario, &Simulator, jobs, &never, |ended| {
        match ended {
            Ok(run) => outcome.add(run),
            Err(failed) => panic!("{}", failed.error),
        }
        Ok::<(), Infallible>(())
    });
    ended.unwrap_or_else(|never| match never {});
    let compared = outcome.compared().into_iter();
    let rows = compared.filter(|row| row.source.contains(MARK));
    let rows = rows.filter_map(|row| {
        let [low, high] = row.agrees;
        Some(Row {
            name: format!("{} {}", row.system, row.metric),
            published: row.published.or(Some((low? + high?) / 2.0))?,
            here: row.here?,
        })
    });
    let rows: Vec<Row> = rows.collect();
    assert!(!rows.is_empty(), "{}: no row is {MARK}", scenario.name);
    rows
}
