//! Tables: CSV (RFC 4180) for programs, columns of text for the terminal.

use std::fmt::Write as _;

use super::columns::aligned;
use super::parquet::{self, Values};
use super::pivot;
use crate::figures::figure;
use crate::measure::metrics;
use crate::measure::series::Series;
use crate::outcome::{MARGIN, Outcome, Row};

/// Formats a run's time series: a row for each time.
pub fn series(series: &Series) -> String {
    let mut text = String::from("t_s");
    for column in &series.columns {
        text.push(',');
        text.push_str(&quoted(&column.head()));
    }
    text.push('\n');
    for (row, t) in series.t.iter().enumerate() {
        let _ = write!(text, "{t}");
        for column in &series.columns {
            text.push(',');
            if let Some(word) = column.word(row) {
                text.push_str(word);
            } else if let Some(value) = column.values.get(row).copied().flatten() {
                let _ = write!(text, "{value}");
            }
        }
        text.push('\n');
    }
    text
}

/// Formats a run's time series as Parquet.
pub fn series_parquet(series: &Series) -> Vec<u8> {
    let t = series.t.iter().copied().map(Some).collect();
    let t = parquet::Column {
        name: "t_s".to_owned(),
        values: Values::Numbers(t),
    };
    let columns = series.columns.iter().map(|column| parquet::Column {
        name: column.head(),
        values: match column.words.is_empty() {
            true => Values::Numbers(column.values.clone()),
            false => {
                let rows = 0..series.t.len();
                Values::Texts(rows.map(|row| column.word(row).unwrap_or("")).collect())
            }
        },
    });
    parquet::file(&[t].into_iter().chain(columns).collect::<Vec<_>>())
}

/// Formats the content of `summary.json` as a table.
pub fn results(outcome: &Outcome<'_>) -> String {
    let mut text = String::from("system,metric,unit,mean,ci95_low,ci95_high,n\n");
    let bound = |bound: Option<f64>| bound.map_or(String::new(), |b| b.to_string());
    for row in outcome.rows() {
        let _ = writeln!(
            text,
            "{},{},{},{},{},{},{}",
            quoted(&row.system),
            quoted(&row.metric),
            row.unit,
            row.mean,
            bound(row.ci95[0]),
            bound(row.ci95[1]),
            row.n
        );
    }
    text
}

/// Formats the rates of all runs in each second.
pub fn profiles(outcome: &Outcome<'_>) -> String {
    let mut text = String::from("system,name,of,t_s,lower,median,upper\n");
    let told = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    for profile in outcome.profiles() {
        let (system, of) = (quoted(&profile.system), quoted(&profile.of));
        let quartiles = profile
            .lower
            .iter()
            .zip(&profile.median)
            .zip(&profile.upper);
        let times = (0..).map(|point| profile.from_s + point * profile.step_s);
        for (t, ((lower, median), upper)) in times.zip(quartiles) {
            let values = [lower, median, upper].map(|value| told(*value)).join(",");
            let _ = writeln!(text, "{system},{},{of},{t},{values}", profile.name);
        }
    }
    text
}

/// Formats every value of every run.
pub fn runs(outcome: &Outcome<'_>) -> String {
    let mut text = String::from("system,seed,metric,value\n");
    for (row, seed, value) in &values(outcome) {
        let (system, metric) = (quoted(&row.system), quoted(&row.metric));
        let _ = writeln!(text, "{system},{seed},{metric},{value}");
    }
    text
}

/// Formats every value of every run as Parquet.
pub fn runs_parquet(outcome: &Outcome<'_>) -> Vec<u8> {
    let values = values(outcome);
    let texts = |name: &str, of: fn(&Row) -> &str| parquet::Column {
        name: name.to_owned(),
        values: Values::Texts(values.iter().map(|(row, _, _)| of(row)).collect()),
    };
    let numbers = |name: &str, of: fn(&(Row, u64, f64)) -> f64| parquet::Column {
        name: name.to_owned(),
        values: Values::Numbers(values.iter().map(|value| Some(of(value))).collect()),
    };
    parquet::file(&[
        texts("system", |row| &row.system),
        numbers("seed", |(_, seed, _)| *seed as f64),
        texts("metric", |row| &row.metric),
        numbers("value", |(_, _, value)| *value),
    ])
}

fn values(outcome: &Outcome<'_>) -> Vec<(Row, u64, f64)> {
    let variants = &outcome.scenario().variants;
    let rows = outcome.rows().into_iter().flat_map(|row| {
        let variant = variants
            .iter()
            .position(|v| v.name == row.system)
            .unwrap_or_default();
        let values = outcome.values(variant, &row.metric).into_iter().zip(1..);
        let present = values.filter_map(|(value, seed)| Some((seed, value?)));
        present
            .map(|(seed, value)| (row.clone(), seed, value))
            .collect::<Vec<_>>()
    });
    rows.collect()
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Number of metrics, and of systems, that fit side by side into 100 columns; chosen by
/// us.
const METRICS_ACROSS: usize = 5;
const SYSTEMS_ACROSS: usize = 3;

/// Line of a metric.
#[derive(Clone, Copy)]
enum Line {
    /// The scenario's centre.
    Centre,
    /// The median, if the interval of the mean is uninformative.
    Median,
}

/// Results shown in the terminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rows {
    /// Metrics that the scenario requests, otherwise the most important ones.
    Foremost,
    /// Every metric.
    All,
}

/// Formats the results for a terminal: a row for each metric, and a column for each
/// system. The table is transposed if the systems do not fit and not all metrics are
/// requested. Varied values give a table for each metric instead.
#[must_use]
pub fn printed(outcome: &Outcome<'_>, which: Rows) -> String {
    let rows = outcome.rows();
    // Single flows and links only if the scenario requests them.
    let wanted = &outcome.scenario().metrics;
    let asked = |row: &&Row| !row.metric.contains('.') || wanted.contains(&row.metric);
    let (mut systems, mut names): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for row in rows.iter().filter(asked) {
        if !systems.contains(&row.system.as_str()) {
            systems.push(&row.system);
        }
        if !names.contains(&row.metric.as_str()) {
            names.push(&row.metric);
        }
    }
    let listed = |name: &str| wanted.iter().position(|each| each == name);
    names.sort_by_key(|name| (listed(name).unwrap_or(usize::MAX), metrics::rank(name)));
    let across = systems.len() > SYSTEMS_ACROSS && which == Rows::Foremost;
    let key = names
        .iter()
        .filter(|name| metrics::KEY.contains(name))
        .count();
    let foremost = match which {
        Rows::Foremost if across => METRICS_ACROSS,
        Rows::Foremost if wanted.is_empty() && key > 0 => key,
        _ => names.len(),
    };
    let shown = &names[..names.len().min(foremost)];
    let has_median = |metric: &str| {
        let mut rows = rows.iter().filter(|row| row.metric == metric);
        rows.any(|row| row.median.is_some())
    };
    let named = shown.iter().flat_map(|metric| match has_median(metric) {
        false => vec![((*metric).to_owned(), (*metric, Line::Centre))],
        true => vec![
            ((*metric).to_owned(), (*metric, Line::Centre)),
            (format!("{metric} (median)"), (*metric, Line::Median)),
        ],
    });
    let named: Vec<(String, (&str, Line))> = named.collect();
    let value = |system: &str, (metric, line): &(&str, Line)| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row.system == system && row.metric == *metric);
        row.map_or("-".to_owned(), |row| cell(row, *line))
    };
    let pivoted = pivot::tables(outcome.scenario(), &named, value);
    let mut text = pivoted.unwrap_or_else(|| {
        let mut table = vec![vec![String::new()]];
        if across {
            table[0].extend(named.iter().map(|(title, _)| title.clone()));
            for system in &systems {
                let values = named.iter().map(|(_, metric)| value(system, metric));
                table.push([(*system).to_owned()].into_iter().chain(values).collect());
            }
        } else {
            table[0].extend(systems.iter().map(|system| (*system).to_owned()));
            for (title, metric) in &named {
                let values = systems.iter().map(|system| value(system, metric));
                table.push([title.clone()].into_iter().chain(values).collect());
            }
        }
        aligned(&table)
    });
    let more = names.len() - shown.len();
    if more > 0 {
        let _ = writeln!(text, "and {more} more metrics with --all");
    }
    text
}

/// Formats the number of runs in which each system was worse than the best single link,
/// for a terminal: a row for each metric, or for each system if the systems do not fit.
/// Empty if there is nothing to compare.
#[must_use]
pub fn printed_worse(outcome: &Outcome<'_>, which: Rows) -> String {
    let all = outcome.worse_than_single();
    let (mut systems, mut names): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for worse in &all {
        if !systems.contains(&worse.system.as_str()) {
            systems.push(&worse.system);
        }
        if !names.contains(&worse.metric.as_str()) {
            names.push(&worse.metric);
        }
    }
    if all.is_empty() {
        return String::new();
    }
    let wanted = &outcome.scenario().metrics;
    let asked = |name: &str| metrics::KEY.contains(&name) || wanted.iter().any(|each| each == name);
    if which == Rows::Foremost && names.iter().any(|name| asked(name)) {
        names.retain(|name| asked(name));
    }
    names.sort_by_key(|name| metrics::rank(name));
    let cell = |system: &str, metric: &str| {
        let mut all = all.iter();
        let found = all.find(|worse| worse.system == system && worse.metric == metric);
        found.map_or("-".to_owned(), |found| {
            format!("{} of {}", found.worse, found.n)
        })
    };
    let mut table: Vec<Vec<String>> = Vec::new();
    let row = |head: &str, cells: &mut dyn Iterator<Item = String>| -> Vec<String> {
        [head.to_owned()].into_iter().chain(cells).collect()
    };
    if systems.len() > SYSTEMS_ACROSS {
        table.push(row("", &mut names.iter().map(|name| (*name).to_owned())));
        let of = |system: &&str| row(system, &mut names.iter().map(|name| cell(system, name)));
        table.extend(systems.iter().map(of));
    } else {
        table.push(row(
            "",
            &mut systems.iter().map(|system| (*system).to_owned()),
        ));
        let of = |name: &&str| row(name, &mut systems.iter().map(|system| cell(system, name)));
        table.extend(names.iter().map(of));
    }
    let margin = MARGIN * 100.0;
    format!(
        "Runs that were worse than the best single link by more than {margin} %:\n{}",
        aligned(&table)
    )
}

fn cell(row: &Row, line: Line) -> String {
    let (value, bounds) = match (line, row.median) {
        (Line::Median, Some(median)) => (median.median, median.ci95),
        // Its interval is uninformative.
        (Line::Centre, Some(_)) => (row.mean, [None, None]),
        (_, None) => (row.mean, row.ci95),
    };
    match bounds {
        [Some(low), Some(high)] => {
            format!("{} [{}, {}]", figure(value), figure(low), figure(high))
        }
        _ => figure(value),
    }
}
