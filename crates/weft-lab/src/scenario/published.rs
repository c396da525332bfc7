//! What others have measured under these conditions.

use toml::Spanned;

use super::file::{self, File};
use super::place::{ScenarioError, Source, Text};
use super::systems;
use crate::measure::metrics::{self, Owners};
use crate::names::unknown_name;

/// Agreement within this share unless the file says otherwise; chosen by us:
/// what reading a value off a printed plot leaves open.
const DEFAULT_TOLERANCE: f64 = 0.1;

/// A published value, as the range in which ours agrees with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Published {
    /// The system here that stands for the one measured there.
    pub system: String,
    /// Its name in the table of metrics, with `.FLOW` or `.LINK` where it is of one.
    pub metric: String,
    /// What was published; `None` for a range or a bound.
    pub value: Option<f64>,
    /// Lowest value that agrees; minus infinity where there is no such bound.
    pub low: f64,
    /// Highest value that agrees; infinity where there is no such bound.
    pub high: f64,
    /// The value is a ratio to this system's.
    pub relative_to: Option<String>,
    /// Where it was published.
    pub source: String,
}

/// The published values of the file, checked; `owners` are the flows and links
/// that a metric can be of.
pub fn published(
    source: &Source,
    file: &File,
    owners: &Owners,
) -> Result<Vec<Published>, ScenarioError> {
    let entries = file.published.iter();
    entries
        .map(|entry| one(source, file, owners, entry))
        .collect()
}

fn one(
    source: &Source,
    file: &File,
    owners: &Owners,
    entry: &file::Published,
) -> Result<Published, ScenarioError> {
    let system = full_name(source, file, &entry.system)?;
    let other = entry.relative_to.as_ref();
    let other = other.map(|other| full_name(source, file, other));
    let name = entry.metric.get_ref();
    metrics::check_name(name, owners)
        .map_err(|message| source.error(entry.metric.span(), message))?;
    let (value, low, high) = agreeing(source, entry)?;
    Ok(Published {
        system,
        metric: name.clone(),
        value,
        low,
        high,
        relative_to: other.transpose()?,
        source: entry.source.clone(),
    })
}

/// The value, and the range that agrees with it.
fn agreeing(
    source: &Source,
    entry: &file::Published,
) -> Result<(Option<f64>, f64, f64), ScenarioError> {
    let bounds = entry.low.as_ref().or(entry.high.as_ref());
    for number in [&entry.value, &entry.low, &entry.high]
        .into_iter()
        .flatten()
    {
        if !number.get_ref().is_finite() {
            let remedy = "this is no number that can be measured: leave `low` or `high` away where \
                          only one end of a range was published";
            return Err(source.error(number.span(), remedy));
        }
    }
    match (&entry.value, bounds, &entry.tolerance) {
        (Some(value), None, tolerance) => {
            let value = *value.get_ref();
            let share = tolerance
                .as_ref()
                .map_or(DEFAULT_TOLERANCE, |t| t.get_ref().0);
            let reach = value.abs() * share;
            Ok((Some(value), value - reach, value + reach))
        }
        (Some(_), Some(bound), _) => {
            let remedy = "`value` stands for itself, `low` and `high` for a range: keep the one or the other";
            Err(source.error(bound.span(), remedy))
        }
        (None, Some(_), Some(tolerance)) => {
            let remedy = "`tolerance` belongs to `value`, a range is as wide as it says: remove it";
            Err(source.error(tolerance.span(), remedy))
        }
        (None, Some(_), None) => range(source, entry),
        (None, None, _) => {
            let remedy = "what was published is missing: give `value`, or `low` or `high` or both";
            Err(source.error(entry.metric.span(), remedy))
        }
    }
}

/// A range, or a bound: the other end is open.
fn range(
    source: &Source,
    entry: &file::Published,
) -> Result<(Option<f64>, f64, f64), ScenarioError> {
    let low = entry
        .low
        .as_ref()
        .map_or(f64::NEG_INFINITY, |low| *low.get_ref());
    let high = entry
        .high
        .as_ref()
        .map_or(f64::INFINITY, |high| *high.get_ref());
    match &entry.high {
        Some(written) if low > high => {
            let message = format!("`low` is {low} and `high` is {high}: exchange them");
            Err(source.error(written.span(), message))
        }
        _ => Ok((None, low, high)),
    }
}

/// The one name of a system, perhaps with varied values behind it: `weft
/// (cameras 2)`; or of these alone where no call is compared.
fn full_name(source: &Source, file: &File, name: &Text) -> Result<String, ScenarioError> {
    let words = |vary: &file::Vary| -> Vec<String> {
        let values = vary.values.get_ref().iter();
        values.map(|value| vary.words(value.get_ref())).collect()
    };
    let known: Vec<String> = file.vary.iter().flat_map(words).collect();
    let unknown = |case: &str| -> Option<String> {
        let mut parts = case.split(", ").map(str::to_owned);
        parts.find(|part| !known.contains(part))
    };
    if unknown(name.get_ref()).is_none() {
        return Ok(name.get_ref().clone());
    }
    let inner = name.get_ref().strip_suffix(')');
    let (system, case) = match inner.and_then(|inner| inner.split_once(" (")) {
        Some((system, case)) => (system, Some(case)),
        None => (name.get_ref().as_str(), None),
    };
    let mut full = system.to_owned();
    if system != super::ALL {
        let system = systems::full_name(file, &Spanned::new(name.span(), full));
        systems::system(source, file, &system)?;
        full = system.into_inner();
    }
    let Some(part) = case.and_then(unknown) else {
        return Ok(case.map_or(full.clone(), |case| format!("{full} ({case})")));
    };
    let known = known.iter().map(String::as_str);
    let message = unknown_name("there is no varied value", &part, known);
    Err(source.error(name.span(), message))
}
