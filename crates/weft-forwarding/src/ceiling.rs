//! Rates that a player's paths have shown that they do not carry.

use weft_session::PathStats;
use weft_units::{Bytes, Instant, Rate};

/// A link is full where so much of what was sent is lost: a share, and packets.
/// Chosen by us: links that lose a few percent for other reasons are common.
const LOST: f64 = 0.1;
const LOST_PACKETS: u64 = 4;
/// Growth at each look while nothing is lost. Chosen by us: at four looks a
/// second, twice as much after two seconds and a half.
const GROWTH: f64 = 1.08;
/// Least bound. Chosen by us: sound and a few small pictures.
const LEAST: Rate = Rate::from_kbps(150);

/// A bound of what a player is sent, after its paths lost much. The congestion
/// controller hears of the same losses. But it takes a second to believe them,
/// and a burst that a token bucket lets through makes it forget them.
#[derive(Debug, Default)]
pub(crate) struct Ceiling {
    rate: Option<Rate>,
    last: Option<(Instant, Counts)>,
}

/// Totals of all paths.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    packets: u64,
    bytes: Bytes,
    acknowledged: u64,
    lost: u64,
}

impl Counts {
    fn of(paths: &[PathStats]) -> Counts {
        let mut counts = Counts::default();
        for path in paths {
            counts.packets += path.sent_packets;
            counts.bytes += path.sent_bytes;
            counts.acknowledged += path.acknowledged_packets;
            counts.lost += path.lost_packets;
        }
        counts
    }
}

impl Ceiling {
    /// Looks at what became of the packets since the last look; `most` is what
    /// the player is sent where nothing is lost.
    pub(crate) fn update(&mut self, now: Instant, paths: &[PathStats], most: Rate) {
        let counts = Counts::of(paths);
        let Some((at, before)) = self.last.replace((now, counts)) else {
            return;
        };
        // A packet that was given up for lost may come after all.
        let since = |now: u64, before: u64| now.saturating_sub(before);
        let acknowledged = since(counts.acknowledged, before.acknowledged);
        let lost = since(counts.lost, before.lost);
        let packets = since(counts.packets, before.packets);
        if lost >= LOST_PACKETS && lost as f64 > (lost + acknowledged) as f64 * LOST {
            let bytes = counts.bytes.saturating_sub(before.bytes).0 as f64;
            let size = bytes / packets.max(1) as f64;
            let delivered = Bytes((acknowledged as f64 * size) as u64) / (now - at);
            let delivered = delivered.max(LEAST);
            self.rate = Some(self.rate.map_or(delivered, |rate| rate.min(delivered)));
        } else if let Some(rate) = self.rate {
            let more = rate.mul_f64(GROWTH);
            self.rate = (more < most).then_some(more);
        }
    }

    /// The bound, if there is one.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.rate
    }
}
