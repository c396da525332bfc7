use crate::controller::{Controller, Limits, PacketResult, SentPacket, Snapshot};
use crate::pacer::PACING_FACTOR;
use weft_units::{Deadline, Duration, Instant, Rate};

/// Controller with a constant rate, independent of the path. Feedback only updates the
/// loss figure of the snapshot.
#[derive(Debug)]
pub struct Fixed {
    rate: Rate,
    loss: f64,
}

/// Weight of one packet in the running mean of loss: chosen by us so that the
/// figure spans about a second of video.
const LOSS_WEIGHT: f64 = 0.01;

impl Fixed {
    /// Creates a controller that sends at `rate`, bounded by the limits.
    #[must_use]
    pub fn new(rate: Rate, limits: Limits) -> Fixed {
        Fixed {
            rate: limits.ordered().clamp(rate),
            loss: 0.0,
        }
    }
}

impl Controller for Fixed {
    fn on_packet_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, _now: Instant, results: &[PacketResult], _rtt: Option<Duration>) {
        for result in results {
            let lost = f64::from(u8::from(result.arrival.is_none()));
            self.loss += LOSS_WEIGHT * (lost - self.loss);
        }
    }

    fn on_timeout(&mut self, _now: Instant) {}

    fn poll_timeout(&self) -> Option<Deadline> {
        None
    }

    fn on_path_restored(&mut self, _now: Instant) {
        self.loss = 0.0;
    }

    fn target_rate(&self) -> Rate {
        self.rate
    }

    fn pacing_rate(&self) -> Rate {
        self.rate.mul_f64(PACING_FACTOR)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            target: self.rate,
            acked: None,
            loss: self.loss,
            state: "fixed",
        }
    }
}

#[cfg(test)]
mod tests;
