//! Choice of the fast path, and the room of each path for packets with priority.

use std::collections::BTreeMap;

use weft_units::{Bytes, Duration, Instant, PathId, Rate};

use super::PathView;

/// `k` of algorithm 1, the largest RTP packet: libwebrtc's value, and the default of
/// [`crate::Config::max_packet`].
pub(super) const LARGEST_PACKET: Bytes = Bytes(1200);

/// Returns the maximum number of packets on a path in a frame's time, at least one.
pub(super) fn most_packets(path: &PathView, period: Duration) -> usize {
    ((path.rate * period).0 / LARGEST_PACKET.0).max(1) as usize
}

/// Returns the rate at which a path delivers: its sending rate without its losses.
pub(super) fn goodput(path: &PathView) -> Rate {
    path.rate.mul_f64((1.0 - path.loss).clamp(0.0, 1.0))
}

/// Returns the time until `size` more bytes would have arrived (algorithm 1). Packets
/// that wait for the pacer leave first.
pub(super) fn completion(path: &PathView, size: Bytes) -> Duration {
    let transmission = goodput(path).time_for(path.queued + size);
    transmission.unwrap_or(Duration::from_secs(3600)) + path.srtt / 2
}

/// Returns the path on which `packets` of the largest size would arrive first (algorithm
/// 1). `paths` must not be empty.
pub(super) fn fast_path(packets: usize, paths: &[PathView]) -> PathId {
    let size = Bytes(LARGEST_PACKET.0 * packets as u64);
    let fast = paths.iter().min_by_key(|p| (completion(p, size), p.id));
    fast.map_or(PathId(0), |p| p.id)
}

/// Used part of `P_max` for each path. It drains at the path's sending rate, so that
/// `P_max` applies to any period of a frame's length.
#[derive(Default)]
pub(super) struct Room {
    taken: BTreeMap<PathId, f64>,
    drained_at: Option<Instant>,
    period: Duration,
}

impl Room {
    pub fn drain(&mut self, now: Instant, paths: &[PathView], period: Duration) {
        let before = self.drained_at.replace(now).unwrap_or(now);
        let elapsed = now.saturating_since(before);
        self.period = period;
        self.taken.retain(|id, _| paths.iter().any(|p| p.id == *id));
        for path in paths {
            let sent = (path.rate * elapsed).0 as f64 / LARGEST_PACKET.0 as f64;
            let taken = self.taken.entry(path.id).or_default();
            *taken = (*taken - sent).max(0.0);
        }
    }

    /// Forgets a removed path.
    pub fn remove(&mut self, path: PathId) {
        self.taken.remove(&path);
    }

    pub fn charge(&mut self, path: PathId, packets: usize) {
        *self.taken.entry(path).or_default() += packets as f64;
    }

    fn taken(&self, path: PathId) -> f64 {
        self.taken.get(&path).copied().unwrap_or(0.0)
    }

    fn fits(&self, path: &PathView) -> bool {
        self.taken(path.id) + 1.0 <= most_packets(path, self.period) as f64
    }

    /// Returns the path of the next packet with priority, one of `batch`: the fast path;
    /// if that is full, the path that the packet was made for; then the next quickest
    /// path that is not full; if all are full, the emptiest.
    pub fn take(&mut self, batch: usize, paths: &[PathView], made_for: Option<PathId>) -> PathId {
        let size = Bytes(LARGEST_PACKET.0 * batch as u64);
        let mut order: Vec<&PathView> = paths.iter().collect();
        order.sort_by_key(|p| (completion(p, size), p.id));
        let fast = order.first().filter(|p| self.fits(p)).map(|p| p.id);
        let own = made_for.filter(|id| paths.iter().any(|p| p.id == *id));
        let next = || order.iter().find(|p| self.fits(p)).map(|p| p.id);
        let fullness = |p: &PathView| self.taken(p.id) / most_packets(p, self.period) as f64;
        let emptier = |a: &'_ PathView, b: &'_ PathView| fullness(a).total_cmp(&fullness(b));
        let emptiest = || {
            order
                .iter()
                .copied()
                .min_by(|a, b| emptier(a, b))
                .map(|p| p.id)
        };
        let path = fast.or(own).or_else(next).or_else(emptiest);
        let path = path.unwrap_or(PathId(0));
        self.charge(path, 1);
        path
    }
}
