//! Bound on one peer's datagrams: the excess is dropped before it costs anything.

use weft_units::{Bytes, Duration, Instant, Rate};

/// Maximum burst beyond the rate, as when a queue on the way empties. Chosen by us: as
/// much as the rate allows in a second.
const BURST: Duration = Duration::from_secs(1);

/// Minimum charge of a datagram in bytes: reading and forwarding a small one costs the
/// same. Chosen by us: a third of a full one, so that the smallest packets gain a peer at
/// most three times as many.
const LEAST: u64 = 400;

/// Bound on incoming datagrams, applied one by one (the generic cell rate algorithm,
/// ITU-T I.371).
#[derive(Clone, Copy, Debug)]
pub(super) struct Ingress {
    rate: Rate,
    /// Time at which everything received so far would have arrived at the rate.
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

    /// Changes the rate. The excess over the old rate still counts.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Whether the bound is exhausted, so that nothing is accepted now.
    pub fn is_exhausted(&self, now: Instant) -> bool {
        self.due > now + BURST
    }

    /// Counts a datagram of this length from the peer. Others are not counted, so that
    /// datagrams with a forged source cannot exhaust the owner's bound.
    pub fn count(&mut self, now: Instant, len: usize) {
        let time = self.rate.time_for(Bytes((len as u64).max(LEAST)));
        // At rate zero, one datagram costs a second.
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
        // A megabyte in a second, and the one that exceeded it.
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
