use crate::scream::queue_target::due;
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// `MSS` and `MIN_CWND` in bytes (section 4.1.1.1).
pub(super) const MSS: f64 = 1000.0;
pub(super) const MIN_WINDOW: f64 = 3000.0;
/// `GAIN`, `BETA_LOSS`, `BETA_ECN` (ibid.).
const GAIN: f64 = 1.0;
const BETA_LOSS: f64 = 0.8;
const BETA_ECN: f64 = 0.9;
/// `MAX_BYTES_IN_FLIGHT_HEAD_ROOM` (ibid.) over the maximum in flight of 5 s (section
/// 4.1.2.2), in steps of a second.
const HEAD_ROOM: f64 = 1.1;
const FLIGHT_SLOTS: usize = 5;
const FLIGHT_SLOT: Duration = Duration::from_secs(1);
/// `QDELAY_TREND_TH` and `QDELAY_TREND_LO` (section 4.1.1.1).
const TREND_HIGH: f64 = 0.2;
const TREND_LOW: f64 = 0.2;
/// `T_RESUME_FAST_INCREASE` (ibid.).
const RESUME_AFTER: Duration = Duration::from_secs(5);
/// Utilization of the window that its growth requires, in fast increase and otherwise
/// (section 4.1.2.2).
const USED_FAST: f64 = 1.5;
const USED: f64 = 1.25;

/// Reason for an immediate reduction of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Loss,
    Mark,
}

/// Acknowledgement for the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    pub(super) now: Instant,
    /// `bytes_newly_acked`, and `bytes_in_flight` after it.
    pub(super) bytes: f64,
    pub(super) in_flight: f64,
    /// `qdelay` and `qdelay_target` in ms, `qdelay_trend`.
    pub(super) queue_ms: f64,
    pub(super) target_ms: f64,
    pub(super) trend: f64,
}

/// Congestion window (sections 4.1.2.1 and 4.1.2.2).
#[derive(Debug)]
pub(super) struct Window {
    /// `cwnd`.
    bytes: f64,
    is_fast: bool,
    /// Time since which the trend has been low.
    calm_since: Option<Instant>,
    /// Maximum in flight of each second, the newest last.
    flight: VecDeque<f64>,
    slot_at: Option<Instant>,
}

impl Window {
    pub(super) fn new(bytes: f64) -> Window {
        Window {
            bytes: bytes.max(MIN_WINDOW),
            is_fast: true,
            calm_since: None,
            flight: VecDeque::with_capacity(FLIGHT_SLOTS),
            slot_at: None,
        }
    }

    /// Returns `cwnd` in bytes.
    pub(super) fn bytes(&self) -> f64 {
        self.bytes
    }

    /// Returns `in_fast_increase`.
    pub(super) fn is_fast(&self) -> bool {
        self.is_fast
    }

    /// Records the bytes in flight after packets left.
    pub(super) fn on_flight(&mut self, now: Instant, bytes: f64) {
        if due(&mut self.slot_at, now, FLIGHT_SLOT) {
            if self.flight.len() == FLIGHT_SLOTS {
                self.flight.pop_front();
            }
            self.flight.push_back(0.0);
        }
        if let Some(most) = self.flight.back_mut() {
            *most = most.max(bytes);
        }
    }

    /// Reduces the window; the caller limits this to once per round trip.
    pub(super) fn shrink(&mut self, event: Event) {
        self.is_fast = false;
        self.calm_since = None;
        let factor = match event {
            Event::Loss => BETA_LOSS,
            Event::Mark => BETA_ECN,
        };
        self.scale(factor);
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.bytes = (self.bytes * factor).max(MIN_WINDOW);
    }

    /// Applies `update_cwnd`.
    pub(super) fn on_acknowledged(&mut self, ack: &Acknowledged) {
        self.resume(ack);
        if self.is_fast && ack.trend < TREND_HIGH {
            if ack.in_flight * USED_FAST + ack.bytes > self.bytes {
                self.bytes += ack.bytes;
            }
            return;
        }
        self.is_fast = false;
        let off_target = (ack.target_ms - ack.queue_ms) / ack.target_ms;
        let unused = ack.in_flight * USED + ack.bytes <= self.bytes;
        if off_target <= 0.0 || !unused {
            self.bytes += GAIN * off_target * ack.bytes * MSS / self.bytes;
        }
        let most = self.flight.iter().copied().fold(0.0, f64::max);
        self.bytes = self.bytes.min(most * HEAD_ROOM).max(MIN_WINDOW);
    }

    /// Applies "Resuming Fast Increase Mode" (section 4.1.2.7).
    fn resume(&mut self, ack: &Acknowledged) {
        if ack.trend >= TREND_LOW {
            self.calm_since = None;
            return;
        }
        let since = *self.calm_since.get_or_insert(ack.now);
        self.is_fast |= ack.now.saturating_since(since) >= RESUME_AFTER;
    }
}

#[cfg(test)]
mod tests;
