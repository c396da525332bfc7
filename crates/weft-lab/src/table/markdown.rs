//! Markdown: tables, and the values in their cells.

use super::results::{Row, Summary};
use super::study::{Cell, Of};
use crate::figures::figure;
use crate::measure::metrics;

/// Formats a table with these titles and rows.
pub fn table(titles: &[String], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = line(titles);
    text += &format!("|{}\n", "---|".repeat(titles.len()));
    for row in rows {
        text += &line(row);
    }
    text
}

/// Returns the line with the number of seeds and the version of the values.
pub fn from(summaries: &[&Summary]) -> String {
    let seeds = || summaries.iter().map(|each| each.seeds.len());
    let (least, most) = (seeds().min().unwrap_or(0), seeds().max().unwrap_or(0));
    let seeds = match (least, most) {
        (1, 1) => "1 seed".to_owned(),
        (least, most) if least == most => format!("{most} seeds"),
        (least, most) => format!("{least} to {most} seeds"),
    };
    let mut versions: Vec<&str> = summaries.iter().map(|each| each.version.as_str()).collect();
    versions.sort_unstable();
    versions.dedup();
    let partial = match summaries.iter().any(|each| each.partial) {
        true => ", some runs missing",
        false => "",
    };
    format!("{seeds}{partial}; weft {}.\n\n", versions.join(", "))
}

/// Returns the heading of a cell's column.
pub fn title(cell: &Cell) -> String {
    if let Some(title) = &cell.title {
        return title.clone();
    }
    let name = cell.metric.0.first().map_or("", String::as_str);
    match metrics::find(name) {
        Some(metric) if metric.unit == "1" => metric.title.to_owned(),
        Some(metric) => format!("{}, {}", metric.title, metric.unit),
        None => "runs with notes".to_owned(),
    }
}

/// Returns the value of a cell, and its text without bold type. `row` finds the result of
/// a metric, `over` that of a metric by which it is divided.
pub fn value<'a>(
    cell: &Cell,
    row: impl Fn(&str) -> Option<&'a Row>,
    over: impl Fn(&str) -> Option<&'a Row>,
) -> Option<(f64, String)> {
    let divisor = |at: usize| cell.over.0.get(at).or(cell.over.0.first());
    let mut values = Vec::new();
    for (at, metric) in cell.metric.0.iter().enumerate() {
        let found = row(metric).map(|row| row.mean);
        let found = match divisor(at) {
            Some(other) => found
                .zip(over(other))
                .map(|(value, other)| value / other.mean),
            None => found,
        };
        values.extend(found.map(|value| value * cell.times));
    }
    let digits = cell.decimals;
    let first = *values.first()?;
    let reduced = match cell.of {
        Of::Sum => values.iter().sum(),
        Of::Least => values.iter().copied().fold(f64::INFINITY, f64::min),
        Of::Greatest => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        Of::Each | Of::Notes => first,
    };
    let text = match (cell.of, &cell.metric.0[..]) {
        (Of::Each, [metric]) if cell.over.0.is_empty() => {
            estimate(row(metric)?, digits, cell.times)
        }
        (Of::Each, _) => {
            let all = values.iter().map(|value| format!("{value:.digits$}"));
            all.collect::<Vec<_>>().join(", ")
        }
        _ => format!("{reduced:.digits$}"),
    };
    Some((reduced, text))
}

/// Formats the value in bold if it is outside of the cell's bounds.
pub fn bounded(cell: &Cell, (value, text): (f64, String)) -> String {
    match is_within(cell, value) {
        true => text,
        false => format!("**{text}**"),
    }
}

/// Whether a value is within the cell's bounds.
pub fn is_within(cell: &Cell, value: f64) -> bool {
    cell.low.is_none_or(|low| value >= low) && cell.high.is_none_or(|high| value <= high)
}

/// Formats the mean and half of the 95 % interval.
fn estimate(row: &Row, digits: usize, times: f64) -> String {
    let mean = row.mean * times;
    match row.ci95 {
        [Some(low), Some(high)] => {
            let half = (high - low) / 2.0 * times;
            format!("{mean:.digits$} ± {half:.digits$}")
        }
        _ => format!("{mean:.digits$}"),
    }
}

/// Formats a range whose ends may be open.
pub fn range([low, high]: [Option<f64>; 2]) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", figure(low), figure(high)),
        (Some(low), None) => format!("at least {}", figure(low)),
        (None, Some(high)) => format!("at most {}", figure(high)),
        (None, None) => String::new(),
    }
}
