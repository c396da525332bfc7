//! Time that an end needs to decode repair packets.

use weft_units::{Duration, Instant};

/// Sequential decoder: a picture is displayed after the repair packets that arrived
/// before it are decoded. The network does not wait for the decoder.
pub(super) struct Decoder {
    repair: Duration,
    busy_until: Instant,
}

impl Decoder {
    /// Creates a decoder; `repair` is the time for one repair packet.
    pub fn new(repair: Duration) -> Decoder {
        Decoder {
            repair,
            busy_until: Instant::ZERO,
        }
    }

    /// Adds a repair packet.
    pub fn on_repair(&mut self, now: Instant) {
        self.busy_until = self.busy_until.max(now) + self.repair;
    }

    /// Returns the time at which everything that arrived is decoded.
    pub fn free_at(&self, now: Instant) -> Instant {
        self.busy_until.max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_wait_for_the_repair_packets_before_them() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut decoder = Decoder::new(Duration::from_millis(5));
        assert_eq!(decoder.free_at(at(100)), at(100));
        // The second waits for the first, the third arrives later.
        decoder.on_repair(at(100));
        decoder.on_repair(at(101));
        assert_eq!(decoder.free_at(at(102)), at(110));
        decoder.on_repair(at(120));
        assert_eq!(decoder.free_at(at(121)), at(125));
        assert_eq!(decoder.free_at(at(130)), at(130));
    }
}
