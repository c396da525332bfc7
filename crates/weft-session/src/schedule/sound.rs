//! Rule for sound: it is sent on the quickest path, and also on the next one as long as
//! that is cheap there. People notice missing sound first, and sound is so small that a
//! dying link should not lose any of it.

use std::collections::BTreeMap;

use weft_units::{Bytes, Duration, Instant, PathId};

use super::{Assignment, PathView};

/// Largest share of a path's rate for copies of sound. Sound of 40 kbps, 65 with all
/// headers, is copied completely if the path carries 260, and partly if it carries less.
/// Chosen by us: the rest is enough for a camera's smallest picture.
const MOST: f64 = 0.25;
/// Largest unused share, as a time, that a path without copies saves up. Chosen by us: a
/// few packets of several microphones at once.
const BURST: Duration = Duration::from_millis(200);

/// Bytes of copies on each path.
#[derive(Default)]
pub(super) struct Sound {
    taken: BTreeMap<PathId, (Instant, f64)>,
}

impl Sound {
    /// Assigns a packet; `quickest_first` has at least one path.
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

    /// Forgets a removed path.
    pub fn remove_path(&mut self, path: PathId) {
        self.taken.remove(&path);
    }

    /// Reserves room for a copy on this path; returns false if it would cost too much.
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
