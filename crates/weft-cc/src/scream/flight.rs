use crate::SentPacket;
use crate::measure::credible_size;
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// Most packets in flight that are remembered; the oldest are forgotten first: about 80
/// MB, chosen by us.
const MAX_PACKETS: usize = 1 << 16;

/// Bytes in flight ("Status Update When Sending Data"): bytes sent after the packet with
/// the highest number that feedback has named, including lost ones.
#[derive(Debug, Default)]
pub(crate) struct Flight {
    /// Number of each packet, and the bytes sent up to and including it.
    sent: VecDeque<(u64, u64)>,
    sent_bytes: u64,
    acked_bytes: u64,
    last_number: Option<u64>,
    /// Maximum of this round trip and of the previous one.
    max: u64,
    max_before: u64,
    turned: Option<Instant>,
}

impl Flight {
    pub(crate) fn on_sent(&mut self, packet: &SentPacket) {
        if self.last_number.is_some_and(|last| packet.number <= last) {
            return;
        }
        self.last_number = Some(packet.number);
        self.sent_bytes += credible_size(packet.size).0;
        self.sent.push_back((packet.number, self.sent_bytes));
        if self.sent.len() > MAX_PACKETS
            && let Some((_, bytes)) = self.sent.pop_front()
        {
            self.acked_bytes = bytes;
        }
        self.max = self.max.max(self.bytes());
    }

    /// Processes feedback up to this packet number; returns the newly acknowledged bytes.
    pub(crate) fn on_acked(&mut self, number: u64) -> u64 {
        let before = self.acked_bytes;
        while let Some(&(first, bytes)) = self.sent.front() {
            if first > number {
                break;
            }
            self.acked_bytes = bytes;
            self.sent.pop_front();
        }
        self.acked_bytes - before
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.sent_bytes - self.acked_bytes
    }

    /// Ends the round trip if this time has passed.
    pub(crate) fn turn(&mut self, now: Instant, rtt: Duration) {
        let turned = *self.turned.get_or_insert(now);
        if now.saturating_since(turned) >= rtt {
            self.turned = Some(now);
            self.max_before = self.max;
            self.max = self.bytes();
        }
    }

    /// Returns `max_bytes_in_flight_prev`.
    pub(crate) fn max_before(&self) -> u64 {
        self.max_before
    }

    /// Returns the maximum of this round trip and the previous one.
    pub(crate) fn max(&self) -> u64 {
        self.max.max(self.max_before)
    }
}

#[cfg(test)]
mod tests;
