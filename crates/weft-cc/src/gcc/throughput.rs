use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Window of libwebrtc `RobustThroughputEstimatorSettings`: it keeps this many packets
/// even if they are older than the shorter duration, never more than the maximum, and
/// needs the required number for a result.
const WINDOW_PACKETS: usize = 20;
const MAX_PACKETS: usize = 500;
const REQUIRED_PACKETS: usize = 10;
const MAX_WINDOW: Duration = Duration::from_secs(5);

/// `window_duration` (libwebrtc `acknowledged_bitrate_estimator_interface.h`, 2019);
/// later revisions keep twice as much, but we want the shorter memory.
const MIN_WINDOW: Duration = Duration::from_millis(500);

/// Window for the current arrival rate: `kDefaultRateWindow` of libwebrtc's older
/// estimator (`bitrate_estimator.cc`).
const RECENT: Duration = Duration::from_millis(150);

/// Reordering beyond this is a jump of the receiver's clock:
/// `kMaxReorderingTime` (libwebrtc `robust_throughput_estimator.cc`).
const MAX_REORDERING: Duration = Duration::from_secs(1);

/// Smallest value of both intervals (ibid.).
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// Delivery rate by the sender's or the receiver's clock, whichever is slower. It is
/// robust against stalls: the longest gap between arrivals counts only as much as the
/// second longest.
#[derive(Debug)]
pub(super) struct Throughput {
    window: VecDeque<Delivered>,
    /// Size of all packets in the window.
    size: Bytes,
    /// Sending time before which packets do not count towards the window's sending rate.
    discarded_sent: Instant,
    /// Sending time before which packets are not counted.
    valid_from: Instant,
    /// Sending time of the newest reported packet.
    newest_sent: Instant,
    /// Arrival time up to which packets in the window may be out of sending order.
    disordered_until: Option<Instant>,
    gaps: Gaps,
}

/// Longest and second longest time between two arrivals in the window.
#[derive(Clone, Copy, Default, Debug)]
struct Gaps {
    longest: Duration,
    second: Duration,
    /// Whether one of them may have left the window.
    stale: bool,
}

impl Gaps {
    fn add(&mut self, gap: Duration) {
        self.second = self.second.max(gap.min(self.longest));
        self.longest = self.longest.max(gap);
    }

    fn remove(&mut self, gap: Duration) {
        self.stale |= gap >= self.second;
    }
}

#[derive(Clone, Copy, Debug)]
struct Delivered {
    sent: Instant,
    arrival: Instant,
    size: Bytes,
}

impl Throughput {
    pub(super) fn new() -> Throughput {
        Throughput {
            window: VecDeque::with_capacity(MAX_PACKETS + 1),
            size: Bytes::ZERO,
            discarded_sent: Instant::ZERO,
            valid_from: Instant::ZERO,
            newest_sent: Instant::ZERO,
            disordered_until: None,
            gaps: Gaps::default(),
        }
    }

    /// Restarts the window because the sending rate has just risen a lot: earlier packets
    /// say nothing about the current delivery rate. Without this, an overuse shortly
    /// after a successful probe would undo it; libwebrtc's estimator has that weakness.
    /// Chosen by us: `probing_finds_5_mbps_within_3_seconds`.
    pub(super) fn restart(&mut self, now: Instant) {
        self.clear();
        self.valid_from = now;
    }

    /// Records a delivered packet; `size` includes unmeasured bytes before it.
    pub(super) fn on_packet(&mut self, sent: Instant, arrival: Instant, size: Bytes) {
        if sent < self.valid_from {
            return;
        }
        let latest = self.window.back().map_or(arrival, |last| last.arrival);
        if latest.saturating_since(arrival) > MAX_REORDERING {
            self.clear();
            self.discarded_sent = Instant::ZERO;
        }
        if arrival < latest || sent < self.newest_sent {
            self.disordered_until = Some(latest.max(arrival));
        }
        self.newest_sent = self.newest_sent.max(sent);
        self.size += size;
        self.window.push_back(Delivered {
            sent,
            arrival,
            size,
        });
        self.gaps.add(arrival.saturating_since(latest));
        self.gaps.stale |= arrival < latest;
        let mut i = self.window.len() - 1;
        while arrival < latest && i > 0 && self.window[i - 1].arrival > arrival {
            self.window.swap(i - 1, i);
            i -= 1;
        }
        while self.first_is_outside() {
            if let Some(first) = self.window.pop_front() {
                let next = self.window.front().map_or(first.arrival, |p| p.arrival);
                self.gaps.remove(next.saturating_since(first.arrival));
                self.size -= first.size;
                self.discarded_sent = self.discarded_sent.max(first.sent);
            }
        }
    }

    fn clear(&mut self) {
        self.window.clear();
        self.size = Bytes::ZERO;
        self.gaps = Gaps::default();
    }

    fn first_is_outside(&self) -> bool {
        let (Some(first), Some(last)) = (self.window.front(), self.window.back()) else {
            return false;
        };
        let span = last.arrival.saturating_since(first.arrival);
        let len = self.window.len();
        len > MAX_PACKETS || span > MAX_WINDOW || (len > WINDOW_PACKETS && span > MIN_WINDOW)
    }

    /// Returns the rate at which the last packets arrived, regardless of their sending
    /// times: while there is a queue, this is the path's capacity.
    pub(super) fn arriving(&self) -> Option<Rate> {
        let last = self.window.back()?.arrival;
        let mut size = Bytes::ZERO;
        for packet in self.window.iter().rev() {
            let span = last.saturating_since(packet.arrival);
            if span >= RECENT {
                return Some(size / span);
            }
            size += packet.size;
        }
        None
    }

    /// Returns the delivery rate, once there are enough packets. This is sometimes linear
    /// in the window, so call it once per feedback.
    pub(super) fn rate(&mut self) -> Option<Rate> {
        if self.window.len() < REQUIRED_PACKETS {
            return None;
        }
        let (first, last) = (*self.window.front()?, *self.window.back()?);
        if self.gaps.stale {
            self.gaps = self.find_gaps(first.arrival);
        }
        // N packets span N - 1 intervals: the first size does not count.
        let received = self.size.saturating_sub(first.size);
        let span = last.arrival.saturating_since(first.arrival);
        let interval =
            (span.saturating_sub(self.gaps.longest) + self.gaps.second).max(MIN_INTERVAL);
        let receive_rate = received / interval;
        let sending_rate = match self.is_in_order(&first) {
            true => Some(self.sending_rate_in_order(&first, &last)),
            false => self.sending_rate(),
        };
        Some(sending_rate.map_or(receive_rate, |rate| receive_rate.min(rate)))
    }

    fn find_gaps(&self, first: Instant) -> Gaps {
        let mut gaps = Gaps::default();
        let mut previous = first;
        let (front, back) = self.window.as_slices();
        for part in [front, back] {
            for packet in part {
                gaps.add(packet.arrival.saturating_since(previous));
                previous = packet.arrival;
            }
        }
        gaps
    }

    fn is_in_order(&self, first: &Delivered) -> bool {
        self.disordered_until
            .is_none_or(|until| first.arrival > until)
    }

    /// Computes [`Throughput::sending_rate`] for an ordered window, in which every packet
    /// was sent after the discarded ones.
    fn sending_rate_in_order(&self, first: &Delivered, last: &Delivered) -> Rate {
        let newest = self.window.iter().rev();
        let newest = newest.take_while(|p| p.sent == last.sent).last();
        let newest_size = newest.unwrap_or(last).size;
        let interval = last.sent.saturating_since(first.sent).max(MIN_INTERVAL);
        self.size.saturating_sub(newest_size) / interval
    }

    /// Returns the sending rate of the packets, without those sent before the discarded
    /// ones; `None` if too few remain. Of the packets sent last, the first does not
    /// count.
    fn sending_rate(&self) -> Option<Rate> {
        let is_valid = |p: &&Delivered| p.sent >= self.discarded_sent;
        let mut valid = self.window.iter().filter(is_valid);
        let first = *valid.next()?;
        let (mut oldest, mut newest) = (first, first);
        let (mut sent, mut packets) = (first.size, 1);
        for packet in valid {
            if packet.sent > newest.sent {
                newest = *packet;
            }
            if packet.sent < oldest.sent {
                oldest = *packet;
            }
            sent += packet.size;
            packets += 1;
        }
        let interval = newest.sent.saturating_since(oldest.sent);
        let rate = sent.saturating_sub(newest.size) / interval.max(MIN_INTERVAL);
        (packets >= REQUIRED_PACKETS).then_some(rate)
    }
}

#[cfg(test)]
mod tests;
