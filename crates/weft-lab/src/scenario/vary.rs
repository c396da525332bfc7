//! Varied values: every system is run with every combination of values.

use std::ops::Range;

use toml::Spanned;

use super::file::{File, Vary};
use super::place::{ScenarioError, Source};
use super::scalar::Scalar;
use super::tree::{self, Tree};

/// Largest product of systems and varied values; chosen by us, against mistakes.
const MOST_VARIANTS: usize = 1_000;

/// A combination of varied values.
pub type Case = Vec<Varied>;

/// A value of one `[[vary]]`, and its words in results.
#[derive(Clone, Debug)]
pub struct Varied {
    pub keys: Vec<String>,
    /// Location of the keys.
    pub place: Range<usize>,
    pub value: Spanned<Scalar>,
    pub words: String,
}

/// Returns every combination. A key that `--set` names has that value only.
pub fn cases(
    source: &Source,
    file: &File,
    tree: &Tree<'_>,
    systems: usize,
) -> Result<Vec<Case>, ScenarioError> {
    let mut cases: Vec<Case> = vec![Vec::new()];
    for (index, vary) in file.vary.iter().enumerate() {
        check(source, vary, &file.vary[..index])?;
        let set = vary.keys().iter().find(|key| source.sets(key));
        let set = set.and_then(|key| tree::value(tree, key));
        let values = match set {
            Some(value) => vec![value],
            None => vary.values.get_ref().clone(),
        };
        if values.is_empty() || cases.len() * values.len() * systems > MOST_VARIANTS {
            let remedy = format!(
                "give values, and at most {MOST_VARIANTS} combinations of systems and values"
            );
            return Err(source.error(vary.values.span(), remedy));
        }
        let entry = |value: &Spanned<Scalar>| Varied {
            keys: vary.keys().to_vec(),
            place: vary.key.span(),
            value: value.clone(),
            words: vary.words(value.get_ref()),
        };
        let longer = |case: &Case| -> Vec<Case> {
            let each = values.iter().map(entry);
            each.map(|entry| case.iter().cloned().chain([entry]).collect())
                .collect()
        };
        cases = cases.iter().flat_map(longer).collect();
    }
    Ok(cases)
}

/// Checks that every value changes something, and that all are different.
fn check(source: &Source, vary: &Vary, before: &[Vary]) -> Result<(), ScenarioError> {
    let wrong = |message: String| Err(source.error(vary.key.span(), message));
    if vary.keys().is_empty() {
        return wrong("`key` is empty: name a field, such as key = \"flows.call.streams\"".into());
    }
    for (index, key) in vary.keys().iter().enumerate() {
        if let Some(message) = tree::fixed(key) {
            return wrong(message);
        }
        let earlier = before.iter().flat_map(Vary::keys);
        if earlier.chain(&vary.keys()[..index]).any(|each| each == key) {
            return wrong(format!(
                "`{key}` is varied twice, and only the last value would count: keep one"
            ));
        }
    }
    let values = vary.values.get_ref();
    for (index, value) in values.iter().enumerate() {
        let text = value.get_ref().text();
        if values[..index].iter().any(|v| v.get_ref().text() == text) {
            return Err(source.error(
                value.span(),
                format!("\"{text}\" is repeated: give each value once"),
            ));
        }
    }
    Ok(())
}
