//! `shows = "systems"`: a column for each system, and a row for each scenario and
//! condition, or for each finding listed by the study.

use super::markdown;
use super::names::{parts, shown};
use super::results::Summary;
use super::study::{Cell, NamedCell, Table};

/// Returns the table; empty without results.
pub fn table(set: &str, table: &Table, summaries: &[&Summary], notes: &mut Vec<String>) -> String {
    let mut systems: Vec<&str> = Vec::new();
    for name in summaries.iter().flat_map(|summary| summary.systems()) {
        let wanted = table.systems.is_empty() || table.systems.iter().any(|one| one.matches(name));
        let (system, _) = parts(name);
        if wanted && !systems.contains(&system) {
            systems.push(system);
        }
    }
    let rows = match &table.cell {
        Some(cell) => conditions(table, cell, summaries, &systems, notes),
        None => findings(set, table, summaries, &systems),
    };
    if rows.is_empty() || systems.is_empty() {
        return String::new();
    }
    let labels: &[&str] = if table.cell.is_some() {
        &["scenario", "seeds"]
    } else {
        &["finding", "bounds"]
    };
    let labels = labels.iter().map(|label| (*label).to_owned());
    let titles: Vec<String> = labels
        .chain(systems.iter().map(|name| shown(name)))
        .collect();
    markdown::table(&titles, &rows)
}

fn conditions(
    table: &Table,
    cell: &Cell,
    summaries: &[&Summary],
    systems: &[&str],
    notes: &mut Vec<String>,
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for summary in summaries {
        let mut cases: Vec<&str> = Vec::new();
        for name in summary.systems() {
            let (_, case) = parts(name);
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        for case in cases {
            let names: Vec<String> = systems.iter().map(|system| full(system, case)).collect();
            let seeds = names
                .iter()
                .filter_map(|name| summary.row(name, cell.metric.0.first()?));
            let Some(seeds) = seeds.map(|row| row.n).min() else {
                continue;
            };
            let label = format!("{} {case}", summary.name()).trim_end().to_owned();
            let cells = names.iter().map(|name| judged(summary, cell, name));
            rows.push(
                [label, seeds.to_string()]
                    .into_iter()
                    .chain(cells)
                    .collect(),
            );
        }
    }
    if rows.is_empty() && !summaries.is_empty() {
        notes.push(table.without(cell));
    }
    rows
}

/// Formats the cell, bold if the scenario's published bounds say higher or lower.
fn judged(summary: &Summary, cell: &Cell, name: &str) -> String {
    let row = |metric: &str| summary.row(name, metric);
    let Some((value, text)) = markdown::value(cell, row, row) else {
        return String::new();
    };
    let (system, _) = parts(name);
    let is_this = |metric: &str, of: &str| {
        cell.metric.0.iter().any(|own| own == metric) && (of == name || of == system)
    };
    let mut published = summary.published.iter();
    let is_outside = published.find(|each| is_this(&each.metric, &each.system));
    match is_outside.is_some_and(|each| each.verdict == "higher" || each.verdict == "lower") {
        true => format!("**{text}**"),
        false => markdown::bounded(cell, (value, text)),
    }
}

/// Returns the rows listed by the study, and how many values are within bounds.
fn findings(
    set: &str,
    table: &Table,
    summaries: &[&Summary],
    systems: &[&str],
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    let mut within = vec![(0, 0); systems.len()];
    for row in &table.rows {
        let wanted = format!("{set}/{}", row.scenario);
        let of: Vec<&&Summary> = summaries
            .iter()
            .filter(|each| each.scenario == wanted)
            .collect();
        let mut cells = vec![
            row.says.clone(),
            markdown::range([row.cell.low, row.cell.high]),
        ];
        for (system, within) in systems.iter().zip(&mut within) {
            let found = of.iter().find_map(|summary| value(summary, row, system));
            if let Some((value, _)) = &found {
                within.1 += 1;
                within.0 += usize::from(markdown::is_within(&row.cell, *value));
            }
            let text = found.map(|found| markdown::bounded(&row.cell, found));
            cells.push(text.unwrap_or_else(|| "-".to_owned()));
        }
        rows.push(cells);
    }
    if within.iter().all(|(_, all)| *all == 0) {
        return Vec::new();
    }
    let bounded = |cell: &Cell| cell.low.is_some() || cell.high.is_some();
    if table.rows.iter().any(|row| bounded(&row.cell)) {
        let total = within.iter().map(|(held, all)| format!("{held} of {all}"));
        rows.push(
            ["**within bounds**".to_owned(), String::new()]
                .into_iter()
                .chain(total)
                .collect(),
        );
    }
    rows
}

fn value(summary: &Summary, row: &NamedCell, system: &str) -> Option<(f64, String)> {
    let name = full(system, &row.case);
    let other = full(system, row.over_case.as_ref().unwrap_or(&row.case));
    markdown::value(
        &row.cell,
        |metric| summary.row(&name, metric),
        |metric| summary.row(&other, metric),
    )
}

/// Returns the name of a system with these varied values.
fn full(system: &str, case: &str) -> String {
    match case {
        "" => system.to_owned(),
        case => format!("{system} ({case})"),
    }
}
