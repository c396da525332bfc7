//! Values that others have measured under these conditions.

use toml::Spanned;

use super::file::{self, By, File};
use super::place::{ScenarioError, Source, Text};
use super::systems;
use crate::measure::metrics::{self, Owners};
use crate::names::unknown_name;

/// Default relative tolerance of an agreement; chosen by us: the uncertainty of reading a
/// value from a printed plot.
const DEFAULT_TOLERANCE: f64 = 0.1;

/// Published value, as the range in which ours agrees with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Published {
    /// Our counterpart of the measured system.
    pub system: String,
    /// Name in the table of metrics, with `.FLOW` or `.LINK` for a single one.
    pub metric: String,
    /// Published value; `None` for a range or a bound.
    pub value: Option<f64>,
    /// Lowest value that agrees; minus infinity without a lower bound.
    pub low: f64,
    /// Highest value that agrees; infinity without an upper bound.
    pub high: f64,
    /// System that the value is relative to.
    pub relative_to: Option<String>,
    /// Metric that the value is relative to; of the same system unless another one is
    /// named.
    pub relative_metric: Option<String>,
    /// Kind of comparison.
    pub by: By,
    /// Source of the value.
    pub source: String,
}

/// Returns the published values of the file, checked; `owners` are the flows and links
/// that a metric can have.
pub fn published(
    source: &Source,
    file: &File,
    owners: &Owners,
) -> Result<Vec<Published>, ScenarioError> {
    let mut all = Vec::new();
    for entry in &file.published {
        for (system, other) in alternatives(source, file, entry)? {
            all.push(one(source, file, owners, entry, (system, other))?);
        }
    }
    Ok(all)
}

/// Placeholder in a name for any varied value at its position.
const ANY: &str = "*";

/// Returns the system and its reference for each of the varied values matched by a `*`;
/// the value is the same in both.
fn alternatives(
    source: &Source,
    file: &File,
    entry: &file::Published,
) -> Result<Vec<(Text, Option<Text>)>, ScenarioError> {
    let given = [Some(&entry.system), entry.relative_to.as_ref()];
    for name in given.into_iter().flatten() {
        let stars = parts(name.get_ref()).any(|part| part == ANY);
        if stars && parts(name.get_ref()).count() != file.vary.len() {
            return Err(misplaced(source, file, name));
        }
    }
    let mut all = vec![(entry.system.clone(), entry.relative_to.clone())];
    for (place, vary) in file.vary.iter().enumerate() {
        let values = vary.values.get_ref().iter();
        let words: Vec<String> = values.map(|value| vary.words(value.get_ref())).collect();
        let mut next = Vec::new();
        for (system, other) in all {
            match part(system.get_ref(), place) {
                Some(ANY) => next.extend(words.iter().map(|word| {
                    let other = other.as_ref().map(|other| with(other, place, word));
                    (with(&system, place, word), other)
                })),
                _ => next.push((system, other)),
            }
        }
        all = next;
    }
    let others = all.iter().filter_map(|(_, other)| other.as_ref());
    for name in others {
        if parts(name.get_ref()).any(|part| part == ANY) {
            return Err(misplaced(source, file, name));
        }
    }
    Ok(all)
}

fn misplaced(source: &Source, file: &File, name: &Text) -> ScenarioError {
    let message = format!(
        "`*` stands for any value of one [[vary]], and in `relative-to` for that of `system`: write {} \
         parts between the brackets, one for each",
        file.vary.len()
    );
    source.error(name.span(), message)
}

/// Iterates over the varied values in the name of a system.
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let inner = name.strip_suffix(')');
    let case = inner.and_then(|inner| inner.split_once(" ("));
    case.into_iter().flat_map(|(_, case)| case.split(", "))
}

fn part(name: &str, place: usize) -> Option<&str> {
    parts(name).nth(place)
}

/// Returns the name with this word instead of a `*`.
fn with(name: &Text, place: usize, word: &str) -> Text {
    let Some((system, _)) = name.get_ref().split_once(" (") else {
        return name.clone();
    };
    let parts = parts(name.get_ref()).enumerate();
    let parts = parts.map(|(at, part)| match part {
        ANY if at == place => word,
        _ => part,
    });
    let case = parts.collect::<Vec<_>>().join(", ");
    Spanned::new(name.span(), format!("{system} ({case})"))
}

fn one(
    source: &Source,
    file: &File,
    owners: &Owners,
    entry: &file::Published,
    (system, other): (Text, Option<Text>),
) -> Result<Published, ScenarioError> {
    let system = full_name(source, file, &system)?;
    let other = other.map(|other| full_name(source, file, &other));
    let name = entry.metric.get_ref();
    for metric in [Some(&entry.metric), entry.relative_metric.as_ref()]
        .into_iter()
        .flatten()
    {
        metrics::check_name(metric.get_ref(), owners)
            .map_err(|message| source.error(metric.span(), message))?;
    }
    if let Some(by) = &entry.by
        && entry.relative_to.is_none()
        && entry.relative_metric.is_none()
    {
        let remedy = "`by` compares a value with another: name the other with `relative-to` or \
                      `relative-metric`, or remove `by`";
        return Err(source.error(by.span(), remedy));
    }
    let (value, low, high) = agreeing(source, entry)?;
    Ok(Published {
        system,
        metric: name.clone(),
        value,
        low,
        high,
        relative_to: other.transpose()?,
        relative_metric: entry.relative_metric.as_ref().map(|m| m.get_ref().clone()),
        by: entry
            .by
            .as_ref()
            .map(|by| *by.get_ref())
            .unwrap_or_default(),
        source: entry.source.clone(),
    })
}

/// Returns the value, and the range that agrees with it.
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
            let remedy = "write a finite number: for a range with one published end, remove \
                          `low` or `high`";
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
            let remedy = "give either `value`, or `low` and `high` for a range, but not both";
            Err(source.error(bound.span(), remedy))
        }
        (None, Some(_), Some(tolerance)) => {
            let remedy = "`tolerance` applies to `value` only, not to a range: remove it";
            Err(source.error(tolerance.span(), remedy))
        }
        (None, Some(_), None) => range(source, entry),
        (None, None, _) => {
            let remedy = "the published value is missing: give `value`, or `low` or `high` or both";
            Err(source.error(entry.metric.span(), remedy))
        }
    }
}

/// Returns a range, or a bound with an open end.
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

/// Returns the full name of a system, possibly with varied values: `weft (cameras 2)`;
/// only the values if no call is compared.
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
