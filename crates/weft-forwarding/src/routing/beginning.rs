use super::parsed::Parsed;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Maximum age of a keyframe for a newcomer; with an older one, the newcomer waits for
/// the next. It equals the minimum time between two keyframe requests, which therefore
/// does not prolong the wait.
const OLDEST: Duration = Duration::from_millis(400);
/// Maximum amount that a newcomer gets of the pictures after the keyframe, as a time at
/// the track's rate: these pictures are late, and later ones wait for them. Chosen by us:
/// `tests/room/newcomer.rs` of `weft-forwarding`. Without layers, the keyframe is at most
/// this old; of three layers, the base layer has 40 % of the rate.
const LATE: Duration = Duration::from_millis(200);
/// Maximum number of bytes to keep. Chosen by us: 400 ms of a camera at 4 Mbit/s, and its
/// keyframe.
const MOST: Bytes = Bytes(400_000);

/// Packets of a track since its last keyframe, while they are few: a newcomer who gets
/// them sees a picture at once.
#[derive(Debug, Default)]
pub(super) struct Beginning {
    /// Packets in order of arrival, with their times, from the keyframe's first packet on.
    packets: Vec<(Instant, Parsed)>,
    /// Total size of the packets.
    bytes: Bytes,
    /// Bytes of the base layer after the keyframe.
    later: Bytes,
    /// Highest sequence number of the track so far.
    newest: u64,
}

impl Beginning {
    /// Records a packet; keyframes start with an `entry`.
    pub(super) fn on_packet(&mut self, now: Instant, parsed: &Parsed) {
        let (packet, info) = (&parsed.packet, &parsed.info);
        let first = self.packets.first();
        let of_keyframe =
            first.is_some_and(|(_, first)| first.packet.timestamp == packet.timestamp);
        let in_order = packet.sequence > self.newest;
        self.newest = self.newest.max(packet.sequence);
        let begins = info.entry && !of_keyframe;
        if begins {
            self.clear();
        }
        // A packet out of order is a repaired one, and parts of its keyframe have been dropped.
        if !(begins && in_order) && self.packets.is_empty() {
            return;
        }
        let size = Bytes(packet.payload.len() as u64);
        self.bytes += size;
        if !begins && !of_keyframe && info.numbers.temporal_layer.unwrap_or(0) == 0 {
            self.later += size;
        }
        self.packets.push((now, parsed.clone()));
        if self.bytes > MOST || !self.is_recent(now) {
            self.clear();
        }
    }

    /// Returns the packets with their times in order of arrival, for a track of this
    /// rate; empty if another keyframe would be better.
    pub(super) fn packets(&self, now: Instant, rate: Option<Rate>) -> &[(Instant, Parsed)] {
        let is_little = rate.is_some_and(|rate| self.later <= rate * LATE);
        match self.is_recent(now) && (is_little || self.later == Bytes::ZERO) {
            true => &self.packets,
            false => &[],
        }
    }

    fn is_recent(&self, now: Instant) -> bool {
        let first = self.packets.first();
        first.is_some_and(|(since, _)| now.saturating_since(*since) < OLDEST)
    }

    /// Forgets the packets, which are not enough to start with.
    pub(super) fn clear(&mut self) {
        (self.bytes, self.later) = (Bytes::ZERO, Bytes::ZERO);
        self.packets = Vec::new();
    }

    /// Continues with another source, which has other numbers.
    pub(super) fn switch_source(&mut self) {
        *self = Beginning::default();
    }
}
