//! Which links lead to the server, as far as media knows.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use weft_units::PathId;

use crate::event::LinkChange;

/// The usable paths of the publication, and the links that had one.
#[derive(Default)]
pub struct Board {
    up: BTreeMap<String, BTreeSet<PathId>>,
    /// Links that carried something once and do not, and since when.
    down: BTreeMap<String, Instant>,
}

impl Board {
    /// A path of a link is usable now, or not any more, and what that means for
    /// the link: several paths may run over one.
    pub fn on_path(
        &mut self,
        now: Instant,
        path: PathId,
        link: &str,
        usable: bool,
    ) -> Option<LinkChange> {
        let paths = self.up.entry(link.to_owned()).or_default();
        let before = !paths.is_empty();
        match usable {
            true => paths.insert(path),
            false => paths.remove(&path),
        };
        match (before, !paths.is_empty()) {
            (false, true) => Some(match self.down.remove(link) {
                Some(since) => LinkChange::Again { down: now - since },
                None => LinkChange::Up,
            }),
            (true, false) => {
                self.down.insert(link.to_owned(), now);
                let all = self.up.values().all(BTreeSet::is_empty);
                Some(if all {
                    LinkChange::AllDown
                } else {
                    LinkChange::Down
                })
            }
            _ => None,
        }
    }

    /// The connection is another one: its paths are new.
    pub fn clear(&mut self) {
        self.up.clear();
    }
}
