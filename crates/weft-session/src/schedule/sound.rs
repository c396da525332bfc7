//! Sound's own rule: on the quickest path, and once more on the next one as
//! long as that is cheap there. It is what people miss first, and so small that
//! a link that dies shall take none of it.

use std::collections::BTreeMap;

use weft_units::{Bytes, Duration, Instant, PathId};

use super::{Assignment, PathView};

/// Most of a path's rate that copies of sound take: a sound of 40 kbps, 65 with
/// all headers, is copied whole where there are 260, and in part where there is
/// less. Chosen by us: a camera's least picture keeps the rest.
const MOST: f64 = 0.25;
/// Most that a path without copies may catch up with. Chosen by us: some packets
/// of several microphones at once.
const BURST: Duration = Duration::from_millis(200);

/// Bytes that copies have taken of each path.
#[derive(Default)]
pub(super) struct Sound {
    taken: BTreeMap<PathId, (Instant, f64)>,
}

impl Sound {
    /// Where a packet goes; of `quickest_first` there is at least one.
    pub fn assign(
        &mut self,
        now: Instant,
        size: Bytes,
        quickest_first: &[&PathView],
    ) -> Assignment {
        let second = quickest_first.get(1);
        let second = second.filter(|path| self.take(now, size, path));
        Assignment {
            path: quickest_first[0].id,
            copies: second.map(|path| path.id).into_iter().collect(),
        }
    }

    /// Forgets a path that has left.
    pub fn remove_path(&mut self, path: PathId) {
        self.taken.remove(&path);
    }

    /// Takes room for a copy on this path; false if it would cost too much.
    fn take(&mut self, now: Instant, size: Bytes, path: &PathView) -> bool {
        let rate = path.rate.mul_f64(MOST);
        let before = self.taken.get(&path.id);
        let left = before.map_or(0.0, |(at, bytes)| {
            let freed = (rate * now.saturating_since(*at)).0 as f64;
            (bytes - freed).max(0.0)
        });
        let taken = left + size.0 as f64;
        let fits = taken <= (rate * BURST).0 as f64;
        let taken = if fits { taken } else { left };
        self.taken.insert(path.id, (now, taken));
        fits
    }
}

#[cfg(test)]
mod tests;
