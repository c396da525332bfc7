//! Bound on one peer's datagrams: the rest is dropped before it costs anything.

use weft_units::{Bytes, Duration, Instant, Rate};

/// Most that may come at once beside the rate: a queue on the way that empties.
/// Chosen by us: a second's worth.
const BURST: Duration = Duration::from_secs(1);

/// A datagram counts as no less, in bytes: what it costs to read it and to pass it
/// on is the same for a small one. Chosen by us: a third of a full one, so that
/// who sends the smallest packets has no more than three times as many.
const LEAST: u64 = 400;

/// A bound on what comes, datagram by datagram (the generic cell rate
/// algorithm, ITU-T I.371).
#[derive(Clone, Copy, Debug)]
pub(super) struct Ingress {
    rate: Rate,
    /// When what has come would have, at the rate.
    due: Instant,
}

impl Ingress {
    pub fn new(rate: Rate) -> Ingress {
        Ingress {
            rate,
            due: Instant::ZERO,
        }
    }

    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Changes the rate. Datagrams beyond the old one still count.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Whether so much has come that nothing more is taken now.
    pub fn is_exhausted(&self, now: Instant) -> bool {
        self.due > now + BURST
    }

    /// A datagram of this length was the peer's. Others are not counted: who
    /// forges a source is not to use up what its owner has.
    pub fn count(&mut self, now: Instant, len: usize) {
        let time = self.rate.time_for(Bytes((len as u64).max(LEAST)));
        // At no rate at all one datagram is a second's worth.
        self.due = self.due.max(now) + time.unwrap_or(BURST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(ingress: &mut Ingress, now: Instant) -> bool {
        let admits = !ingress.is_exhausted(now);
        if admits {
            ingress.count(now, 1_000);
        }
        admits
    }

    #[test]
    fn a_burst_is_taken_and_then_the_rate() {
        let mut ingress = Ingress::new(Rate::from_mbps(8));
        let mut now = Instant::ZERO + Duration::from_secs(60);
        let taken = (0..5_000).filter(|_| admits(&mut ingress, now)).count();
        // A second's megabyte, and the one that went beyond.
        assert_eq!(taken, 1_001);
        let mut later = 0;
        for _ in 0..10_000 {
            now += Duration::from_micros(100);
            later += u64::from(admits(&mut ingress, now));
        }
        assert!((990..=1_010).contains(&later), "{later} in a second");
        now += Duration::from_secs(5);
        assert!((0..1_000).all(|_| admits(&mut ingress, now)));
    }

    #[test]
    fn another_rate_forgives_nothing_that_came_before() {
        let mut ingress = Ingress::new(Rate::from_mbps(8));
        let mut now = Instant::ZERO + Duration::from_secs(60);
        while admits(&mut ingress, now) {}
        ingress.set_rate(Rate::from_mbps(80));
        assert!(!admits(&mut ingress, now));
        now += Duration::from_millis(100);
        let taken = (0..5_000).filter(|_| admits(&mut ingress, now)).count();
        assert!((990..=1_010).contains(&taken), "{taken} in a tenth");
    }
}
