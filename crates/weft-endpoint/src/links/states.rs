//! Working links to the server, as observed by media.

use std::collections::BTreeMap;
use std::time::Instant;

use weft_session::PathState;
use weft_units::PathId;

use super::change::LinkChange;

/// Usable paths of the publication, and links that had one.
#[derive(Default)]
pub struct LinkStates {
    usable: BTreeMap<String, BTreeMap<PathId, PathState>>,
    /// Links that worked earlier but not now, with the start of the outage.
    down: BTreeMap<String, Instant>,
}

impl LinkStates {
    /// Records the new state of a path and returns the resulting change of its
    /// link. Several paths may use one link; the best state counts.
    pub fn on_path(
        &mut self,
        now: Instant,
        path: PathId,
        link: &str,
        state: PathState,
    ) -> Option<LinkChange> {
        let paths = self.usable.entry(link.to_owned()).or_default();
        let before = best(paths);
        match state {
            PathState::Down => paths.remove(&path),
            PathState::Up | PathState::Suspect => paths.insert(path, state),
        };
        match (before, best(paths)) {
            (PathState::Down, PathState::Up | PathState::Suspect) => {
                Some(match self.down.remove(link) {
                    Some(since) => LinkChange::Again { down: now - since },
                    None => LinkChange::Up,
                })
            }
            (PathState::Up | PathState::Suspect, PathState::Down) => {
                self.down.insert(link.to_owned(), now);
                let all = self.usable.values().all(BTreeMap::is_empty);
                Some(if all {
                    LinkChange::AllDown
                } else {
                    LinkChange::Down
                })
            }
            (PathState::Up, PathState::Suspect) => Some(LinkChange::Suspect),
            (PathState::Suspect, PathState::Up) => Some(LinkChange::Trusted),
            _ => None,
        }
    }

    /// Resets the paths for a new connection.
    pub fn clear(&mut self) {
        self.usable.clear();
    }
}

/// Returns the state of a link with these usable paths.
fn best(paths: &BTreeMap<PathId, PathState>) -> PathState {
    let mut states = paths.values();
    match states.clone().next() {
        None => PathState::Down,
        Some(_) if states.any(|state| *state == PathState::Up) => PathState::Up,
        Some(_) => PathState::Suspect,
    }
}
