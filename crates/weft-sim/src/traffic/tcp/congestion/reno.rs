//! Reno: slow start and congestion avoidance of RFC 5681, in segments.

use weft_units::Instant;

use super::{AckSample, CongestionControl, INITIAL_WINDOW, Phase};

pub(super) struct Reno {
    window: f64,
    threshold: f64,
}

impl Reno {
    pub fn new() -> Reno {
        Reno {
            window: f64::from(INITIAL_WINDOW),
            threshold: f64::INFINITY,
        }
    }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &AckSample) {
        let grows = matches!(ack.phase, Phase::Open | Phase::Timeout) && ack.window_was_full;
        if !grows {
            return;
        }
        let delivered = f64::from(ack.delivered);
        if self.window < self.threshold {
            self.window = (self.window + delivered).min(self.threshold.max(self.window + 1.0));
        } else {
            self.window += delivered / self.window;
        }
    }

    fn on_congestion(&mut self, _now: Instant, in_flight: u32) {
        // Equation 4 of RFC 5681.
        self.threshold = (f64::from(in_flight) / 2.0).max(2.0);
        self.window = self.threshold;
    }

    fn on_timeout(&mut self, now: Instant, in_flight: u32) {
        self.on_congestion(now, in_flight);
        self.window = 1.0;
    }

    fn on_recovered(&mut self, _now: Instant) {}

    fn window(&self) -> u32 {
        self.window as u32
    }
}
