//! Unique names in results.

use std::collections::BTreeMap;
use std::ops::Range;

use super::file::File;
use super::flows::Ways;
use super::place::{ScenarioError, Source, Text};
use crate::names::file_name;

/// Checks the names of links and flows in columns and metrics: a link, its backward
/// direction, a flow, each path of a call.
pub fn check_owners(source: &Source, file: &File) -> Result<(), ScenarioError> {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut add = |name: String, what: String, place: Range<usize>| match known.get(&name) {
        Some(other) => {
            let message =
                format!("{other} and {what} are both called `{name}` in results: rename one");
            Err(source.error(place, message))
        }
        None => {
            known.insert(name, what);
            Ok(())
        }
    };
    for (medium, _) in &file.media.0 {
        let name = medium.get_ref();
        add(name.clone(), format!("medium `{name}`"), medium.span())?;
        let access_point = format!("the access point of medium `{name}`");
        add(format!("{name}-ap"), access_point, medium.span())?;
    }
    for (link, _) in &file.links.get_ref().0 {
        let name = link.get_ref();
        add(name.clone(), format!("link `{name}`"), link.span())?;
        let back = format!("the way back of link `{name}`");
        add(format!("{name}-back"), back, link.span())?;
    }
    for (flow, written) in &file.flows.get_ref().0 {
        let name = flow.get_ref();
        add(name.clone(), format!("flow `{name}`"), flow.span())?;
        if matches!(written.get_ref().ways(), Ways::One | Ways::Named) {
            continue;
        }
        for link in file.links.get_ref().names() {
            let path = format!("the path of flow `{name}` over link `{link}`");
            add(format!("{name}@{link}"), path, flow.span())?;
        }
    }
    Ok(())
}

/// File names, by the variants that are written into them.
#[derive(Default)]
pub struct Files(BTreeMap<String, String>);

impl Files {
    /// Adds a variant of this system.
    pub fn add(
        &mut self,
        source: &Source,
        variant: &str,
        system: &Text,
    ) -> Result<(), ScenarioError> {
        let file = file_name(variant);
        if let Some(other) = self.0.get(&file) {
            let message = format!(
                "`{other}` and `{variant}` would both be written into files called {file}: rename one, \
                 with a [system.NAME] if need be"
            );
            return Err(source.error(system.span(), message));
        }
        self.0.insert(file, variant.to_owned());
        Ok(())
    }
}
