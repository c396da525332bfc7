//! Upper bounds on the rate of a player's paths, learned from losses.

use std::collections::BTreeMap;

use weft_session::PathStats;
use weft_units::{Bytes, Instant, PathId, Rate};

/// Minimum loss at which a link counts as full, as a share of the sent packets and as a number of
/// packets. Chosen by us: links that lose a few percent for other reasons are common.
const LOST: f64 = 0.1;
const LOST_PACKETS: u64 = 4;
/// Growth factor per update while nothing is lost. Chosen by us: with four updates a
/// second, the bound doubles in two and a half seconds.
const GROWTH: f64 = 1.08;
/// Minimum bound. Chosen by us: sound and a few small pictures.
const LEAST: Rate = Rate::from_kbps(150);

/// Bound on the rate to a player after heavy loss on its paths. The congestion controller
/// sees the same losses, but it takes a second to react to them, and a burst that a token
/// bucket lets through makes it forget them.
#[derive(Debug, Default)]
pub(crate) struct Ceiling {
    rate: Option<Rate>,
    last: Option<(Instant, BTreeMap<PathId, Counts>)>,
}

/// Totals of one path or of several.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    packets: u64,
    bytes: Bytes,
    acknowledged: u64,
    lost: u64,
}

impl Counts {
    fn of(path: &PathStats) -> Counts {
        Counts {
            packets: path.sent_packets,
            bytes: path.sent_bytes,
            acknowledged: path.acknowledged_packets,
            lost: path.lost_packets,
        }
    }

    /// Sum of the increases since earlier counts. A path that has disappeared counts
    /// nothing, and one that reuses an id starts at zero.
    fn since(now: &BTreeMap<PathId, Counts>, before: &BTreeMap<PathId, Counts>) -> Counts {
        let mut sum = Counts::default();
        for (path, now) in now {
            let before = before.get(path).copied().unwrap_or_default();
            sum.packets += now.packets.saturating_sub(before.packets);
            sum.bytes += now.bytes.saturating_sub(before.bytes);
            sum.acknowledged += now.acknowledged.saturating_sub(before.acknowledged);
            sum.lost += now.lost.saturating_sub(before.lost);
        }
        sum
    }
}

impl Ceiling {
    /// Updates the bound with the results of the packets since the last update; `most` is
    /// the rate to the player without losses.
    pub(crate) fn update(
        &mut self,
        now: Instant,
        paths: impl Iterator<Item = PathStats>,
        most: Rate,
    ) {
        let counts = paths.map(|path| (path.path, Counts::of(&path))).collect();
        let last = self.last.take();
        let since = last.map(|(at, before)| (at, Counts::since(&counts, &before)));
        self.last = Some((now, counts));
        let Some((at, since)) = since else {
            return;
        };
        let Counts {
            packets,
            bytes,
            acknowledged,
            lost,
        } = since;
        if lost >= LOST_PACKETS && lost as f64 > (lost + acknowledged) as f64 * LOST {
            let size = bytes.0 as f64 / packets.max(1) as f64;
            let delivered = Bytes((acknowledged as f64 * size) as u64) / (now - at);
            let delivered = delivered.max(LEAST);
            self.rate = Some(self.rate.map_or(delivered, |rate| rate.min(delivered)));
        } else if let Some(rate) = self.rate {
            let more = rate.mul_f64(GROWTH);
            self.rate = (more < most).then_some(more);
        }
    }

    /// Returns the bound, if any.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_leaves_hides_nothing_of_the_others() {
        let counts = |acknowledged, lost| Counts {
            packets: acknowledged + lost,
            bytes: Bytes(1000 * (acknowledged + lost)),
            acknowledged,
            lost,
        };
        let [left, stays, comes] = [0, 1, 2].map(PathId);
        let before = BTreeMap::from([(left, counts(500, 60)), (stays, counts(1000, 50))]);
        let now = BTreeMap::from([(stays, counts(1030, 55)), (comes, counts(10, 1))]);
        let since = Counts::since(&now, &before);
        assert_eq!((since.acknowledged, since.lost), (40, 6));
        assert_eq!((since.packets, since.bytes), (46, Bytes(46_000)));
    }
}
