//! The time that an end takes to decode repair packets.

use weft_units::{Duration, Instant};

/// Does one thing after the other: a picture is shown when the repair packets
/// that came before it are decoded. The network does not wait for it.
pub(super) struct Decoder {
    repair: Duration,
    busy_until: Instant,
}

impl Decoder {
    /// `repair`: how long one repair packet takes.
    pub fn new(repair: Duration) -> Decoder {
        Decoder {
            repair,
            busy_until: Instant::ZERO,
        }
    }

    /// A repair packet has come.
    pub fn on_repair(&mut self, now: Instant) {
        self.busy_until = self.busy_until.max(now) + self.repair;
    }

    /// When it is done with everything that has come.
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
        // The second waits for the first, the third comes later.
        decoder.on_repair(at(100));
        decoder.on_repair(at(101));
        assert_eq!(decoder.free_at(at(102)), at(110));
        decoder.on_repair(at(120));
        assert_eq!(decoder.free_at(at(121)), at(125));
        assert_eq!(decoder.free_at(at(130)), at(130));
    }
}
