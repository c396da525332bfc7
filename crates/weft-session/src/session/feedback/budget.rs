//! How much RTCP of its peer a session handles.
//!
//! Two bytes of a report can name 8,191 packets, and four bytes are a message:
//! the size of what comes is no bound of what it costs.

use weft_units::{Duration, Instant};

/// Work is counted in entries of lists: a packet that feedback names, or one
/// that is asked for again. A message costs as much as so many besides:
/// measured, where a second of packets is under way.
const MESSAGE: i64 = 64;
/// Entries a second, whatever is sent: a thousand messages and a half, five
/// times what weft's own reports make of eight paths. Chosen by us.
const PER_SECOND: i64 = 100_000;
/// Entries for each packet that is sent: weft names each in two reports, and
/// what is lost may be asked for several times. Chosen by us.
const PER_SENT: i64 = 8;
/// Most that is saved for bursts. Chosen by us: a second's worth.
const MOST: i64 = PER_SECOND;
/// Beyond the packets that are remembered as sent, lists hold so many entries
/// at most: report blocks, sources, and packets that were forgotten meanwhile.
/// Chosen by us.
const BESIDE_SENT: usize = 1024;

#[derive(Debug)]
pub(super) struct Budget {
    /// Entries. Below zero after a datagram that cost more than there was.
    left: i64,
    refilled_at: Instant,
    /// Packets sent up to then.
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

    /// How many entries the lists of the next datagram may have; `None` if it
    /// is not to be read at all. `sent` packets have left so far, and
    /// `remembered` of them can still be named.
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

    /// A datagram had so many messages, and so many entries in their lists.
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
        // A debt of a message is paid first.
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
