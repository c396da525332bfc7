//! Links that carry nothing, and the reasons found.

use std::collections::{BTreeMap, BTreeSet};

use crate::links::LinkTrouble;

/// Diagnoses of links without a path.
#[derive(Default)]
pub(super) struct Diagnosis {
    /// Links with a running or finished diagnosis.
    pub asked: BTreeSet<String>,
    pub found: BTreeMap<String, LinkTrouble>,
    /// Whether a path carried packets in the last statistics.
    pub media_flows: bool,
}

impl Diagnosis {
    /// Reasons why links carry nothing, by link name.
    pub fn troubles(&self) -> &BTreeMap<String, LinkTrouble> {
        &self.found
    }
}
