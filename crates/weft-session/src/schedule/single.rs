use smallvec::smallvec;
use weft_units::{Instant, PathId, Rate};

use super::{Assignment, Assignments, Batch, PathView, Scheduler};

/// Stays on one path as long as that lives, as an ordinary call does.
#[derive(Default)]
pub(super) struct Single {
    pub(super) path: Option<PathId>,
}

impl Single {
    fn chosen<'a>(&self, paths: &'a [PathView]) -> &'a PathView {
        paths
            .iter()
            .find(|p| Some(p.id) == self.path)
            .unwrap_or(&paths[0])
    }
}

impl Scheduler for Single {
    fn assign(&mut self, _now: Instant, batch: &Batch<'_>, paths: &[PathView]) -> Assignments {
        let path = self.chosen(paths).id;
        self.path = Some(path);
        smallvec![Assignment::from(path); batch.sizes.len()]
    }

    fn rate(&self, paths: &[PathView]) -> Rate {
        self.chosen(paths).rate
    }

    fn on_path_removed(&mut self, path: PathId) {
        self.path = self.path.filter(|own| *own != path);
    }
}
