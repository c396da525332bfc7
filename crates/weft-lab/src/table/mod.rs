//! Tables of results as Markdown.
//!
//! A set of scenarios declares its tables in `tables.toml` beside them; this module
//! prints them from the `summary.json` files of a run, and contains nothing specific to a
//! study. `docs/experiment/tables.md` explains the file.

mod checks;
mod error;
mod markdown;
mod metrics;
mod names;
mod page;
mod published;
mod results;
mod study;
mod systems;

use crate::catalogue;
use crate::names::unknown_name;

pub use error::TableError;
pub use page::{Printed, replaced};
pub use results::Results;
use results::Summary;
use study::{Shows, Study, Table};

/// Tables of a set, and the reasons why others are missing.
#[derive(Debug, Default)]
pub struct Tables {
    /// In the order of the study.
    pub printed: Vec<Printed>,
    /// A line for each table or metric without results.
    pub missing: Vec<String>,
}

/// Prints the tables of a set from these results: those named by `only`, or all if it
/// is empty.
///
/// # Errors
/// If the set or a table is unknown, or a requested table has no results.
pub fn tables(set: &str, results: &Results, only: &[String]) -> Result<Tables, TableError> {
    let set = set.trim_end_matches('/');
    let (file, text) = catalogue::tables(set).map_err(TableError::UnknownSet)?;
    let parsed = Study::parse(text.as_deref().unwrap_or(DEFAULT));
    let study = parsed.map_err(|error| TableError::Study { file, error })?;
    let mut tables = of_study(set, &study, results, only)?;
    if text.is_none() && only.is_empty() {
        // The default tables of every set are omitted if they are empty.
        tables.missing.clear();
    }
    Ok(tables)
}

fn of_study(
    set: &str,
    study: &Study,
    results: &Results,
    only: &[String],
) -> Result<Tables, TableError> {
    for name in only {
        if !study.tables.iter().any(|table| table.name == *name) {
            let known = study.tables.iter().map(|table| table.name.as_str());
            let text = unknown_name("--only: there is no table", name, known);
            return Err(TableError::UnknownTable(text));
        }
    }
    let mut tables = Tables::default();
    let wanted = |table: &&Table| only.is_empty() || only.contains(&table.name);
    for table in study.tables.iter().filter(wanted) {
        match printed(set, table, study, results, &mut tables.missing)? {
            Some(text) => tables.printed.push(Printed {
                name: table.name.clone(),
                title: table.title.clone(),
                text,
            }),
            None if only.is_empty() => tables.missing.push(missing(set, table)),
            None => return Err(TableError::Missing(missing(set, table))),
        }
    }
    Ok(tables)
}

/// Tables of a set that declares none.
const DEFAULT: &str = include_str!("default.toml");

fn missing(set: &str, table: &Table) -> String {
    let scenarios: Vec<String> = table
        .scenarios
        .iter()
        .map(|name| format!("{set}/{name}"))
        .collect();
    let run = if scenarios.is_empty() {
        set.to_owned()
    } else {
        scenarios.join(" ")
    };
    format!(
        "table {}: the folder has no results for it: run `weft lab run {run} --out DIR`",
        table.name
    )
}

/// Returns the text of a table; empty if there are no results for it.
fn printed(
    set: &str,
    table: &Table,
    study: &Study,
    results: &Results,
    notes: &mut Vec<String>,
) -> Result<Option<String>, TableError> {
    let is_wanted = |summary: &&Summary| match summary.scenario.split_once('/') {
        Some((own, name)) => {
            own == set
                && (table.scenarios.is_empty() || table.scenarios.iter().any(|one| one == name))
        }
        None => false,
    };
    let chosen: Vec<&Summary> = results.summaries.iter().filter(is_wanted).collect();
    if !matches!(table.shows, Shows::Metrics | Shows::Engines) {
        notes.extend(twice(table, &chosen));
    }
    let text = match table.shows {
        Shows::Metrics => metrics::table(table, &chosen, notes),
        Shows::Systems => systems::table(set, table, &chosen, notes),
        Shows::Agreement => published::agreement(table, &chosen),
        Shows::Published => published::values(table, &chosen),
        Shows::Checks => checks::table(set, &study.checks, &chosen)?,
        Shows::Engines => published::engines(table, &results.disagreements),
    };
    if text.is_empty() {
        return Ok(None);
    }
    let about = match table.about.trim() {
        "" => String::new(),
        about => format!("{about}\n\n"),
    };
    let from = match table.shows {
        Shows::Engines => String::new(),
        _ => markdown::from(&chosen),
    };
    Ok(Some(format!("{about}{from}{text}")))
}

/// Returns a note if a scenario was found in several folders, which this kind of
/// table does not distinguish.
fn twice(table: &Table, chosen: &[&Summary]) -> Option<String> {
    let mut pairs = chosen.windows(2);
    let pair = pairs.find(|pair| pair[0].scenario == pair[1].scenario)?;
    Some(format!(
        "table {}: {} is both in {} and in {}, and both count: give the folder of one of them",
        table.name, pair[0].scenario, pair[0].folder, pair[1].folder
    ))
}

#[cfg(test)]
mod tests;
