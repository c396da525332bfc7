//! Results over varied values for the terminal: a table for each metric, with a row for
//! each combination of values and a column for each system.

use crate::scenario::{Axis, Scenario, Variant};

use super::columns::aligned;

/// Maximum number of systems side by side; chosen by us: about the width of a terminal.
const SYSTEMS_ACROSS: usize = 6;

/// Returns the tables of these metrics; `None` if nothing varies or there are too many
/// systems. `cell` returns the text of a variant's metric.
pub fn tables<M>(
    scenario: &Scenario,
    metrics: &[(String, M)],
    cell: impl Fn(&str, &M) -> String,
) -> Option<String> {
    let mut systems: Vec<&str> = Vec::new();
    let mut cases: Vec<&[(String, String)]> = Vec::new();
    for variant in &scenario.variants {
        if !systems.contains(&variant.system.name.as_str()) {
            systems.push(&variant.system.name);
        }
        if !cases.contains(&variant.case.as_slice()) {
            cases.push(&variant.case);
        }
    }
    if cases.len() < 2 || systems.len() > SYSTEMS_ACROSS {
        return None;
    }
    let axes = scenario.axes.iter();
    let axes: Vec<&Axis> = axes.filter(|axis| axis.values().count() > 1).collect();
    let value = |case: &[(String, String)], axis: &Axis| {
        let mut pairs = case.iter();
        let found = pairs.find(|(key, _)| axis.keys.contains(key));
        found.map_or(String::new(), |(_, value)| value.clone())
    };
    let variant = |system: &str, case: &[(String, String)]| -> Option<&Variant> {
        let mut variants = scenario.variants.iter();
        variants.find(|v| v.system.name == system && v.case == case)
    };
    let table = |(title, metric): &(String, M)| {
        let heads = axes.iter().map(|axis| match axis.label.is_empty() {
            true => axis.keys.join(", "),
            false => axis.label.clone(),
        });
        let heads = heads.chain(systems.iter().map(|system| (*system).to_owned()));
        let rows = cases.iter().map(|case| {
            let values = axes.iter().map(|axis| value(case, axis));
            let cells = systems.iter().map(|system| {
                let variant = variant(system, case);
                variant.map_or("-".to_owned(), |variant| cell(&variant.name, metric))
            });
            values.chain(cells).collect()
        });
        let rows: Vec<Vec<String>> = [heads.collect()].into_iter().chain(rows).collect();
        format!("{title}\n{}", aligned(&rows))
    };
    let tables: Vec<String> = metrics.iter().map(table).collect();
    Some(tables.join("\n"))
}
