//! Links that carry nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::links::LinkTrouble;

/// Links without a path, and the reasons that were found.
#[derive(Default)]
pub(super) struct Diagnosis {
    /// Links whose trouble is being found out, or known.
    pub asked: BTreeSet<String>,
    pub found: BTreeMap<String, LinkTrouble>,
    /// Whether a path carries packets, as of the last figures.
    pub media_flows: bool,
}

impl Diagnosis {
    /// Why links carry nothing, by their names.
    pub fn troubles(&self) -> &BTreeMap<String, LinkTrouble> {
        &self.found
    }
}
