//! Selection of the paths that carry media: equation 2 disables paths, equation 3 enables
//! them.

use std::collections::BTreeMap;

use weft_units::{Duration, Instant, PathId};

use super::super::{PathMode, PathUse};
use super::PathView;

/// Shortest time before a disabled path is judged again: four of the duplicates that
/// measure it. Chosen by us: before that, its smoothed round trip still reflects the load
/// for which it was disabled.
const LEAST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub(super) struct Links {
    uses: BTreeMap<PathId, PathUse>,
    disabled: BTreeMap<PathId, Pause>,
}

/// Reason for which a path is disabled.
struct Pause {
    since: Instant,
    /// Frame construction delay in the feedback that disabled it.
    construction: Duration,
}

impl Links {
    /// Returns the paths that carry media: those that are not disabled, or all if every
    /// path is disabled.
    pub fn active(&self, paths: &[PathView]) -> Vec<PathView> {
        let enabled = |p: &&PathView| !self.disabled.contains_key(&p.id);
        let active: Vec<PathView> = paths.iter().filter(enabled).copied().collect();
        match active.is_empty() {
            true => paths.to_vec(),
            false => active,
        }
    }

    pub fn disable(&mut self, now: Instant, path: PathId, construction: Duration) {
        let pause = Pause {
            since: now,
            construction,
        };
        if self.disabled.insert(path, pause).is_none() {
            self.uses.entry(path).or_default().disabled += 1;
        }
    }

    /// Applies equation 3: a path returns if half of the difference of the round trips is
    /// within the frame construction delay that it had caused. Returns the paths that
    /// return.
    pub fn enable_recovered(
        &mut self,
        now: Instant,
        fast: PathId,
        paths: &[PathView],
    ) -> Vec<PathId> {
        let mut returned = Vec::new();
        let Some(fast) = paths.iter().find(|p| p.id == fast) else {
            return returned;
        };
        for path in paths {
            let recovered = self.disabled.get(&path.id).is_some_and(|pause| {
                let skew = fast.srtt.max(path.srtt) - fast.srtt.min(path.srtt);
                let is_alone = path.id == fast.id;
                let rested = now.saturating_since(pause.since) >= LEAST_PAUSE;
                is_alone || (rested && skew / 2 <= pause.construction)
            });
            if recovered {
                self.disabled.remove(&path.id);
                self.uses.entry(path.id).or_default().enabled += 1;
                returned.push(path.id);
            }
        }
        returned
    }

    /// Forgets a removed path.
    pub fn remove(&mut self, path: PathId) {
        self.uses.remove(&path);
        self.disabled.remove(&path);
    }

    pub fn usage(&self, path: PathId) -> PathUse {
        let mut usage = self.uses.get(&path).copied().unwrap_or_default();
        if self.disabled.contains_key(&path) {
            usage.state = PathMode::Disabled;
        }
        usage
    }
}
