//! What is varied: every system is run with every combination of values.

use toml::Spanned;

use super::file::{File, Scalar};
use super::place::{ScenarioError, Source};
use super::tree::{self, Tree};

/// Systems times varied values; chosen by us, against a slip of the pen.
const MOST_VARIANTS: usize = 1_000;

/// A combination of varied values.
pub type Case = Vec<Varied>;

/// A value of one `[[vary]]`, and the words for it in results.
#[derive(Clone, Debug)]
pub struct Varied {
    pub keys: Vec<String>,
    pub value: Spanned<Scalar>,
    pub words: String,
}

/// Every combination. A key that `--set` names has that value only.
pub fn cases(
    source: &Source,
    file: &File,
    tree: &Tree<'_>,
    systems: usize,
) -> Result<Vec<Case>, ScenarioError> {
    let mut cases: Vec<Case> = vec![Vec::new()];
    for vary in &file.vary {
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
