//! Varied values: every system is run with every combination of values, from `[[vary]]`
//! and from arguments with several values.

use std::ops::Range;

use toml::Spanned;

use super::file::{File, Vary};
use super::place::{ScenarioError, Source};
use super::scalar::Scalar;
use super::sweep::Sweep;
use super::tree::{self, Tree};

/// Maximum product of systems and varied values; chosen by us, against mistakes.
const MOST_VARIANTS: usize = 1_000;

/// Varied field, or several that always get the same value.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Their dotted paths.
    pub keys: Vec<String>,
    /// Word before a value in results; may be empty.
    pub label: String,
    /// Location of the keys.
    place: Range<usize>,
    values: Vec<Spanned<Scalar>>,
    /// Location of the values.
    all: Range<usize>,
}

impl Axis {
    /// Iterates over the values, as written.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|value| value.get_ref().text())
    }
}

/// A combination of varied values.
pub type Case = Vec<Varied>;

/// A value of one axis, and its words in results.
#[derive(Clone, Debug)]
pub struct Varied {
    pub keys: Vec<String>,
    /// Location of the keys.
    pub place: Range<usize>,
    pub value: Spanned<Scalar>,
    pub words: String,
}

/// Returns the axes of the file, then those of `--set`. A key that both vary has the
/// values of `--set`.
pub fn axes(source: &Source, file: &File, tree: &Tree<'_>) -> Result<Vec<Axis>, ScenarioError> {
    let mut axes = Vec::new();
    for vary in &file.vary {
        let set = vary.keys().iter().find(|key| source.sets(key));
        let swept = set.and_then(|key| source.sweeps().find(|sweep| sweep.key == *key));
        let one = set.and_then(|key| tree::value(tree, key));
        axes.push(Axis {
            keys: vary.keys().to_vec(),
            label: vary.label.clone(),
            place: vary.key.span(),
            values: match (swept, one) {
                (Some(sweep), _) => sweep.values.clone(),
                (None, Some(value)) => vec![value],
                (None, None) => vary.values.get_ref().clone(),
            },
            all: vary.values.span(),
        });
    }
    axes.extend(more(source, file).map(|sweep| Axis {
        keys: vec![sweep.key.clone()],
        label: label(&sweep.key).to_owned(),
        place: sweep.place.clone(),
        values: sweep.values.clone(),
        all: sweep.place.clone(),
    }));
    for (index, axis) in axes.iter().enumerate() {
        check(source, axis, &axes[..index])?;
    }
    Ok(axes)
}

/// Iterates over the sweeps of fields that the file does not vary.
fn more<'a>(source: &'a Source, file: &'a File) -> impl Iterator<Item = &'a Sweep> {
    let is_varied = |key: &String| file.vary.iter().any(|vary| vary.keys().contains(key));
    source.sweeps().filter(move |sweep| !is_varied(&sweep.key))
}

/// Whether `--set` varies fields that the file does not vary.
pub fn has_more(source: &Source, file: &File) -> bool {
    more(source, file).next().is_some()
}

/// Returns the words for a swept key: its path without the first part, such as
/// `wifi.delay`.
fn label(key: &str) -> &str {
    key.split_once('.').map_or(key, |(_, rest)| rest)
}

/// Returns every combination of values.
pub fn cases(source: &Source, axes: &[Axis], systems: usize) -> Result<Vec<Case>, ScenarioError> {
    let mut cases: Vec<Case> = vec![Vec::new()];
    for axis in axes {
        if axis.values.is_empty() || cases.len() * axis.values.len() * systems > MOST_VARIANTS {
            let remedy = format!(
                "give values, and at most {MOST_VARIANTS} combinations of systems and values"
            );
            return Err(source.error(axis.all.clone(), remedy));
        }
        let entry = |value: &Spanned<Scalar>| Varied {
            keys: axis.keys.clone(),
            place: axis.place.clone(),
            value: value.clone(),
            words: Vary::words_of(&axis.label, value.get_ref()),
        };
        let longer = |case: &Case| -> Vec<Case> {
            let each = axis.values.iter().map(entry);
            each.map(|entry| case.iter().cloned().chain([entry]).collect())
                .collect()
        };
        cases = cases.iter().flat_map(longer).collect();
    }
    Ok(cases)
}

/// Checks that every value changes something, and that all are different.
fn check(source: &Source, axis: &Axis, before: &[Axis]) -> Result<(), ScenarioError> {
    let wrong = |message: String| Err(source.error(axis.place.clone(), message));
    if axis.keys.is_empty() {
        return wrong("`key` is empty: name a field, such as key = \"flows.call.streams\"".into());
    }
    for (index, key) in axis.keys.iter().enumerate() {
        if let Some(message) = tree::fixed(key) {
            return wrong(message);
        }
        let earlier = before.iter().flat_map(|axis| &axis.keys);
        if earlier.chain(&axis.keys[..index]).any(|each| each == key) {
            return wrong(format!(
                "`{key}` is varied twice, and only the last value would count: keep one"
            ));
        }
    }
    for (index, value) in axis.values.iter().enumerate() {
        let text = value.get_ref().text();
        if axis.values().take(index).any(|each| each == text) {
            return Err(source.error(
                value.span(),
                format!("\"{text}\" is repeated: give each value once"),
            ));
        }
    }
    Ok(())
}
