//! Limit on the work that a session spends on its peer's RTCP.
//!
//! Two bytes of a report can name 8,191 packets, and four bytes can be a message, so the
//! size of the input does not bound its cost.

use weft_units::{Duration, Instant};

/// Cost of a message in list entries. An entry is a packet that feedback names, or one
/// that is requested again. Measured with a second of packets in flight.
const MESSAGE: i64 = 64;
/// Entries per second, independent of the sending rate: a thousand messages and a half,
/// five times what weft's own reports need for eight paths. Chosen by us.
const PER_SECOND: i64 = 100_000;
/// Entries for each packet sent: weft names each in two reports, and a lost packet may be
/// requested several times. Chosen by us.
const PER_SENT: i64 = 8;
/// Largest balance for bursts. Chosen by us: one second.
const MOST: i64 = PER_SECOND;
/// Most list entries beyond the packets that are remembered as sent: report blocks,
/// sources, and packets that were forgotten meanwhile. Chosen by us.
const BESIDE_SENT: usize = 1024;

#[derive(Debug)]
pub(super) struct Budget {
    /// Balance in entries. Negative after a datagram that cost more than the balance.
    left: i64,
    refilled_at: Instant,
    /// Number of packets sent at that time.
    sent: u64,
}

impl Budget {
    pub fn new(now: Instant) -> Budget {
        Budget {
            left: MOST,
            refilled_at: now,
            sent: 0,
        }
    }

    /// Returns how many entries the lists of the next datagram may have; `None` if it
    /// must not be read at all. `sent` packets have left so far, and feedback can still
    /// name `remembered` of them.
    pub fn entries(&mut self, now: Instant, sent: u64, remembered: usize) -> Option<usize> {
        let since = now.saturating_since(self.refilled_at);
        let since = since.min(Duration::from_secs(1)).as_nanos() as i64;
        let for_time = since * (PER_SECOND / 1000) / 1_000_000;
        if for_time > 0 {
            self.refilled_at = now;
        }
        let more = sent.saturating_sub(self.sent).min(MOST as u64) as i64;
        self.sent = sent;
        self.left = MOST.min(self.left + for_time + more * PER_SENT);
        let left = usize::try_from(self.left).ok().filter(|left| *left > 0)?;
        Some(left.min(remembered + BESIDE_SENT))
    }

    /// Charges a datagram with this many messages, and this many entries in their lists.
    pub fn spend(&mut self, messages: usize, entries: usize) {
        self.left -= messages as i64 * MESSAGE + entries as i64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn the_budget_refills_with_time_and_with_packets_sent() {
        let mut budget = Budget::new(at(0));
        assert_eq!(budget.entries(at(0), 0, 200_000), Some(100_000));
        budget.spend(1, 99_936);
        assert_eq!(budget.entries(at(0), 0, 200_000), None);
        // The debt of one message is paid first.
        budget.spend(1, 0);
        assert_eq!(budget.entries(at(1), 0, 200_000), Some(100 - 64));
        assert_eq!(budget.entries(at(1), 10, 200_000), Some(100 - 64 + 80));
        assert_eq!(budget.entries(at(60_000), 10, 200_000), Some(100_000));
    }

    #[test]
    fn lists_are_no_longer_than_what_was_sent() {
        let mut budget = Budget::new(at(0));
        assert_eq!(budget.entries(at(0), 500, 300), Some(1324));
    }
}
