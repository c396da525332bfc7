//! Equation 2: the effect of the receiver's feedback on each path's packets.

use std::collections::BTreeMap;

use weft_units::{Duration, Instant, PathId};

use super::PathView;

/// Time in which a correction halves, so that a path regains its share some time after
/// the problem. Chosen by us with the scenario `converge/feedback-ablation`.
const HALF_LIFE: Duration = Duration::from_secs(5);

/// Corrections for one stream, in packets per frame.
#[derive(Default)]
pub(super) struct Adjustments {
    paths: BTreeMap<PathId, Adjustment>,
}

struct Adjustment {
    alpha: f64,
    since: Instant,
    /// Time until which feedback is ignored, because it is about frames that were sent
    /// before this correction took effect.
    deaf_until: Instant,
}

impl Adjustment {
    fn decayed(&self, now: Instant) -> f64 {
        let halvings = now.saturating_since(self.since).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.alpha * 0.5_f64.powf(halvings)
    }
}

impl Adjustments {
    /// Forgets a removed path.
    pub fn remove(&mut self, path: PathId) {
        self.paths.remove(&path);
    }

    /// Returns the current alpha of equation 2, in whole packets.
    pub fn current(&self, now: Instant, path: PathId) -> i64 {
        let alpha = self.paths.get(&path).map(|a| a.decayed(now));
        alpha.map_or(0, |alpha| alpha.round() as i64)
    }

    /// Adds the receiver's feedback, within bounds. Returns the sum, or `None` if it
    /// comes too early to reflect the previous correction.
    pub fn on_feedback(
        &mut self,
        now: Instant,
        path: &PathView,
        alpha: i32,
        (least, most): (f64, f64),
    ) -> Option<f64> {
        let before = match self.paths.get(&path.id) {
            Some(adjustment) if now < adjustment.deaf_until => return None,
            Some(adjustment) => adjustment.decayed(now),
            None => 0.0,
        };
        let alpha = (before + f64::from(alpha)).clamp(least, most);
        let adjustment = Adjustment {
            alpha,
            since: now,
            deaf_until: now + path.srtt,
        };
        self.paths.insert(path.id, adjustment);
        Some(alpha)
    }

    /// Sets the correction of a disabled path that returns.
    pub fn return_with(&mut self, now: Instant, path: PathId, alpha: f64) {
        let adjustment = Adjustment {
            alpha: alpha.min(0.0),
            since: now,
            deaf_until: now,
        };
        self.paths.insert(path, adjustment);
    }
}

/// Applies equation 2 to all paths of a frame. The total stays the same: packets that one
/// path loses go to the fast path while that has room, and packets that one path gains
/// come from it.
pub(super) fn corrected(
    mut shares: Vec<(PathId, usize)>,
    alphas: &[i64],
    most: &[usize],
    fast: PathId,
) -> Vec<(PathId, usize)> {
    let mut spare = 0;
    for (index, (_, share)) in shares.iter_mut().enumerate() {
        let given_up = usize::try_from(-alphas[index]).unwrap_or(0).min(*share);
        *share -= given_up;
        spare += given_up;
    }
    let fast = shares.iter().position(|(id, _)| *id == fast).unwrap_or(0);
    // The fast path first, then the order of ids.
    let order: Vec<usize> = std::iter::once(fast)
        .chain((0..shares.len()).filter(|i| *i != fast))
        .collect();
    for &index in &order {
        let wanted = usize::try_from(alphas[index]).unwrap_or(0);
        let mut wanted = wanted.min(most[index].saturating_sub(shares[index].1));
        let from_spare = wanted.min(spare);
        spare -= from_spare;
        shares[index].1 += from_spare;
        wanted -= from_spare;
        for &giver in order.iter().filter(|i| alphas[**i] <= 0) {
            let taken = wanted.min(shares[giver].1);
            shares[giver].1 -= taken;
            shares[index].1 += taken;
            wanted -= taken;
        }
    }
    for &index in order.iter().filter(|i| alphas[**i] >= 0) {
        let taken = spare.min(most[index].saturating_sub(shares[index].1));
        shares[index].1 += taken;
        spare -= taken;
    }
    shares[fast].1 += spare;
    shares
}
