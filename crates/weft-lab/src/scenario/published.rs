//! What others have measured under these conditions.

use super::file::{self, File};
use super::place::{ScenarioError, Source};
use super::systems;
use crate::metrics;

/// Agreement within this share unless the file says otherwise; chosen by us:
/// what reading a value off a printed plot leaves open.
const DEFAULT_TOLERANCE: f64 = 0.1;

/// A published value, as the range in which ours agrees with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Published {
    /// The system here that stands for the one measured there.
    pub system: String,
    /// The metric.
    pub metric: String,
    /// What was published: a value, or the middle of a range.
    pub value: f64,
    /// Lowest value that agrees.
    pub low: f64,
    /// Highest value that agrees.
    pub high: f64,
    /// The value is a ratio to this system's.
    pub relative_to: Option<String>,
    /// Where it was published.
    pub source: String,
}

/// The published values of the file, checked.
pub fn published(source: &Source, file: &File) -> Result<Vec<Published>, ScenarioError> {
    file.published
        .iter()
        .map(|entry| one(source, file, entry))
        .collect()
}

fn one(source: &Source, file: &File, entry: &file::Published) -> Result<Published, ScenarioError> {
    if entry.system.get_ref() != "all" && file.vary.is_empty() {
        systems::system(source, file, &entry.system)?;
    }
    let name = entry.metric.get_ref();
    metrics::check_name(name).map_err(|message| source.error(entry.metric.span(), message))?;
    let (value, low, high) = match (&entry.value, &entry.low, &entry.high) {
        (Some(value), None, None) => {
            let value = *value.get_ref();
            let reach = value.abs() * entry.tolerance.map_or(DEFAULT_TOLERANCE, |t| t.0);
            (value, value - reach, value + reach)
        }
        (None, Some(low), Some(high)) if low.get_ref() <= high.get_ref() => {
            let (low, high) = (*low.get_ref(), *high.get_ref());
            ((low + high) / 2.0, low, high)
        }
        _ => {
            let remedy = "a published value is either `value`, with `tolerance` if need be, or `low` and `high`";
            return Err(source.error(entry.metric.span(), remedy));
        }
    };
    Ok(Published {
        system: entry.system.get_ref().clone(),
        metric: name.clone(),
        value,
        low,
        high,
        relative_to: entry.relative_to.as_ref().map(|t| t.get_ref().clone()),
        source: entry.source.clone(),
    })
}
