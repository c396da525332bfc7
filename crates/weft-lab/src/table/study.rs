//! `tables.toml`: the tables that a set of scenarios declares.

use serde::Deserialize;

use super::names::Pattern;
use crate::measure::metrics;
use crate::names::unknown_name;

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Study {
    #[serde(default, rename = "table")]
    pub tables: Vec<Table>,
    #[serde(default, rename = "check")]
    pub checks: Vec<Check>,
}

/// One table. `docs/experiment/tables.md` explains every field.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Table {
    pub name: String,
    pub title: String,
    pub shows: Shows,
    #[serde(default)]
    pub about: String,
    /// Names within the set; empty for all.
    #[serde(default)]
    pub scenarios: Vec<String>,
    /// Empty for all.
    #[serde(default)]
    pub systems: Vec<Pattern>,
    /// Columns of `shows = "metrics"`.
    #[serde(default)]
    pub columns: Vec<Cell>,
    /// Rows of `shows = "systems"`; if empty, `cell` for each scenario and case.
    #[serde(default)]
    pub rows: Vec<NamedCell>,
    pub cell: Option<Cell>,
}

/// Kinds of tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shows {
    /// A row for each system, a column for each metric.
    Metrics,
    /// A column for each system, a row for each scenario and case.
    Systems,
    /// Number of published values that agree, by figure.
    Agreement,
    /// Each published value beside our value.
    Published,
    /// Published statements about many conditions or runs.
    Checks,
    /// Values of the simulator beside those of the emulator.
    Engines,
}

/// Row of `rows` in `shows = "systems"`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NamedCell {
    pub says: String,
    pub scenario: String,
    /// Varied values, as in the brackets after a system.
    #[serde(default)]
    pub case: String,
    /// Varied values of the runs from which `over` is taken; by default the same.
    pub over_case: Option<String>,
    pub cell: Cell,
}

/// Value, and how it is formatted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Cell {
    /// Default: the title of the metric with its unit.
    pub title: Option<String>,
    #[serde(default)]
    pub metric: OneOrMore,
    /// Metric by which the metric is divided.
    #[serde(default)]
    pub over: OneOrMore,
    #[serde(default)]
    pub of: Of,
    /// Digits after the decimal point.
    #[serde(default = "two")]
    pub decimals: usize,
    /// Factor, such as 100 for per cent.
    #[serde(default = "one")]
    pub times: f64,
    /// Values below are printed bold.
    pub low: Option<f64>,
    /// Values above are printed bold.
    pub high: Option<f64>,
}

const fn two() -> usize {
    2
}

const fn one() -> f64 {
    1.0
}

/// The value of a cell with several metrics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// All, separated by commas; a single one with its interval.
    #[default]
    Each,
    /// Their sum.
    Sum,
    /// The least of them.
    Least,
    /// The greatest of them.
    Greatest,
    /// Not a metric: the number of runs with a note, such as a late emulator.
    Notes,
}

/// A list, or one element without brackets.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(from = "Written")]
pub struct OneOrMore(pub Vec<String>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    One(String),
    More(Vec<String>),
}

impl From<Written> for OneOrMore {
    fn from(written: Written) -> OneOrMore {
        match written {
            Written::One(one) => OneOrMore(vec![one]),
            Written::More(more) => OneOrMore(more),
        }
    }
}

/// Published statement about many conditions or runs together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Check {
    pub figure: String,
    pub says: String,
    pub scenario: String,
    pub metric: String,
    /// Conditions that it is about.
    #[serde(default)]
    pub of: Option<Pattern>,
    /// Upper bounds: the value of `of` is at most that of the first, which is at most
    /// that of the second.
    #[serde(default)]
    pub at_most: Vec<Pattern>,
    /// Groups whose means are compared.
    #[serde(default)]
    pub groups: Vec<Group>,
    /// Scenario of `at-most` and of the groups' `over`; by default the same.
    pub other_scenario: Option<String>,
    /// Rank correlation with this metric, over all runs.
    pub correlation: Option<String>,
    /// Compares the widths of the intervals instead of the values.
    #[serde(default)]
    pub widths: bool,
    /// Counts every run instead of each condition.
    #[serde(default)]
    pub runs: bool,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Lowest and highest share that agrees.
    pub share: Option<[f64; 2]>,
    #[serde(default)]
    pub order: Option<Order>,
}

/// Order of the groups' means.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Each is less than the previous one.
    Falling,
    /// The first is the greatest.
    FirstGreatest,
}

/// Conditions whose values are averaged.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Group {
    pub of: Pattern,
    /// Condition by whose value each one is divided first.
    pub over: Option<Pattern>,
}

impl Study {
    /// Reads the text of a `tables.toml`.
    ///
    /// # Errors
    /// The first error in it.
    pub fn parse(text: &str) -> Result<Study, String> {
        let study: Study = toml::from_str(text).map_err(|error| error.to_string())?;
        for (at, table) in study.tables.iter().enumerate() {
            let wrong = |error: String| format!("table `{}`: {error}", table.name);
            table.check().map_err(wrong)?;
            if study.tables[..at]
                .iter()
                .any(|each| each.name == table.name)
            {
                return Err(wrong("there are two of this name: rename one".to_owned()));
            }
        }
        for check in &study.checks {
            let metrics = [Some(&check.metric), check.correlation.as_ref()];
            for metric in metrics.into_iter().flatten() {
                known(metric).map_err(|error| format!("check `{}`: {error}", check.says))?;
            }
        }
        Ok(study)
    }
}

impl Table {
    /// Returns a note if none of the results has the metric of a cell.
    pub fn without(&self, cell: &Cell) -> String {
        format!(
            "table {}: none of the results has `{}`: add it to the `metrics` of the scenarios and run them again",
            self.name,
            cell.metric.0.join("`, `")
        )
    }

    /// Checks that it has the fields of its kind, and metrics that exist.
    fn check(&self) -> Result<(), String> {
        match self.shows {
            Shows::Metrics if self.columns.is_empty() => {
                return Err("add `columns`, such as [{ metric = \"fps\" }]".to_owned());
            }
            Shows::Systems if self.cell.is_none() == self.rows.is_empty() => {
                let remedy = "give either `cell`, such as { metric = \"fps\" }, or `rows`";
                return Err(remedy.to_owned());
            }
            _ => {}
        }
        let rows = self.rows.iter().map(|row| &row.cell);
        let cells = self.columns.iter().chain(&self.cell).chain(rows);
        for cell in cells {
            for metric in cell.metric.0.iter().chain(&cell.over.0) {
                known(metric)?;
            }
            if cell.metric.0.is_empty() && cell.of != Of::Notes {
                return Err("a cell has no `metric`: add one".to_owned());
            }
        }
        Ok(())
    }
}

fn known(metric: &str) -> Result<(), String> {
    if metrics::find(metric).is_some() {
        return Ok(());
    }
    let base = metric.split(['.', '#']).next().unwrap_or(metric);
    let names = metrics::ALL.iter().map(|metric| metric.name);
    Err(unknown_name("there is no metric", base, names))
}
