use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Most packets in a window; more would only use memory.
const MAX_PACKETS: usize = 4096;

/// Distance of an arrival, back or forward, from which the receiver's clock has jumped:
/// chosen by us, longer than any window.
const CLOCK_JUMP: Duration = Duration::from_secs(3);

/// Rate at which packets arrived over a window of the receiver's time.
#[derive(Debug)]
pub(crate) struct DeliveryRate {
    window: Duration,
    packets: VecDeque<(Instant, Bytes)>,
    size: Bytes,
    /// First packet after the start or a jump.
    since: Option<Instant>,
}

impl DeliveryRate {
    pub(crate) fn new(window: Duration) -> DeliveryRate {
        DeliveryRate {
            window,
            packets: VecDeque::new(),
            size: Bytes::ZERO,
            since: None,
        }
    }

    pub(crate) fn on_packet(&mut self, arrival: Instant, size: Bytes) {
        let last = self.packets.back().map_or(arrival, |p| p.0);
        let apart = arrival.signed_nanos_since(last).unsigned_abs();
        if apart > CLOCK_JUMP.as_nanos() {
            *self = DeliveryRate::new(self.window);
        }
        self.since.get_or_insert(arrival);
        // A reordered packet counts at the end of the window.
        let at = self.packets.back().map_or(arrival, |p| p.0.max(arrival));
        self.packets.push_back((at, size));
        self.size += size;
        while let Some(&(oldest, size)) = self.packets.front() {
            let old = at.saturating_since(oldest) > self.window;
            if !old && self.packets.len() <= MAX_PACKETS {
                break;
            }
            self.packets.pop_front();
            self.size = self.size.saturating_sub(size);
        }
    }

    /// Returns the rate, once a whole window has passed.
    pub(crate) fn rate(&self) -> Option<Rate> {
        let (newest, _) = self.packets.back()?;
        (newest.saturating_since(self.since?) >= self.window).then(|| self.size / self.window)
    }
}
