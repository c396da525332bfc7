//! State of a call's congestion controllers as columns: the state as a word, round trips,
//! and internal quantities.

use std::borrow::Cow;

use weft_experiment::{CallSample, PathSample};
use weft_units::Instant;

use super::column::{Column, Series};
use crate::measure::run::Run;

/// Prefix of the columns of controllers.
const PREFIX: &str = "cc_";

/// Returns the sample at the end of each period; `None` without a call.
pub(super) fn by_period(
    series: &[CallSample],
    ends: impl Iterator<Item = Instant>,
) -> Vec<Option<&CallSample>> {
    let find = |end: Instant| series.binary_search_by_key(&end, |sample| sample.at);
    ends.map(|end| find(end).ok().map(|at| &series[at]))
        .collect()
}

impl Series {
    /// Adds columns for each path of a call's first end.
    pub(super) fn add_controllers(
        &mut self,
        run: &Run<'_>,
        flow: usize,
        samples: &[Option<&CallSample>],
    ) {
        let setup = &run.setup.flows[flow];
        for (path, route) in setup.routes.iter().enumerate() {
            let of = match route.hops.first() {
                Some(hop) if setup.routes.len() > 1 => {
                    format!("{}@{}", setup.name, run.setup.link_name(hop))
                }
                _ => setup.name.clone(),
            };
            let rows: Vec<Option<&PathSample>> = samples
                .iter()
                .map(|sample| sample.and_then(|sample| sample.paths.get(path)))
                .collect();
            self.columns.push(states(&of, &rows));
            self.columns.push(Column {
                name: Cow::Borrowed("rtt_ms"),
                of: of.clone(),
                unit: "ms",
                values: each(&rows, |path| path.rtt.as_millis_f64()),
                words: Vec::new(),
            });
            if setup.routes.len() > 1 {
                self.columns.push(Column {
                    name: Cow::Owned(format!("{PREFIX}target")),
                    of: of.clone(),
                    unit: "Mbit/s",
                    values: each(&rows, |path| path.target_rate.as_mbps()),
                    words: Vec::new(),
                });
            }
            self.columns.extend(internals(&of, &rows));
        }
    }
}

fn each(rows: &[Option<&PathSample>], of: fn(&PathSample) -> f64) -> Vec<Option<f64>> {
    rows.iter().map(|path| path.map(of)).collect()
}

/// Encodes words by their position among the words that occur.
fn states(of: &str, rows: &[Option<&PathSample>]) -> Column {
    let mut words: Vec<&'static str> = Vec::new();
    let mut position = |word: &'static str| {
        let known = words.iter().position(|each| *each == word);
        known.unwrap_or_else(|| {
            words.push(word);
            words.len() - 1
        })
    };
    let at = |path: &Option<&PathSample>| path.map(|path| position(path.controller_state) as f64);
    let values = rows.iter().map(at).collect();
    Column {
        name: Cow::Owned(format!("{PREFIX}state")),
        of: of.to_owned(),
        unit: "1",
        values,
        words,
    }
}

/// Returns a column for each quantity that the controller reported.
fn internals(of: &str, rows: &[Option<&PathSample>]) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    for (row, path) in rows.iter().enumerate() {
        for internal in path.iter().flat_map(|path| &path.internals) {
            let name = |column: &Column| column.name.strip_prefix(PREFIX) == Some(internal.name);
            let known = columns.iter().position(name);
            let at = known.unwrap_or_else(|| {
                columns.push(Column {
                    name: Cow::Owned(format!("{PREFIX}{}", internal.name)),
                    of: of.to_owned(),
                    unit: internal.unit,
                    values: vec![None; rows.len()],
                    words: Vec::new(),
                });
                columns.len() - 1
            });
            columns[at].values[row] = Some(internal.value);
        }
    }
    columns
}

#[cfg(test)]
mod tests;
