use crate::controller::{Controller, Limits, PacketResult, SentPacket, Snapshot};
use crate::measure::{BaseDelay, SILENCE_DROP, SILENCE_INTERVAL, TEN_MINUTES};
use crate::pacer::PACING_FACTOR;
use weft_units::{Deadline, Duration, Instant, Rate};

/// Thresholds of the loss share: above the first the rate falls, by half of the share;
/// below the second the rate grows (draft-ietf-rmcat-gcc-02 section 6).
const HIGH_LOSS: f64 = 0.10;
const LOW_LOSS: f64 = 0.02;
/// Growth with every report: `kIncreaseFactor` and 1 kbps (libwebrtc
/// `send_side_bandwidth_estimation.cc`), at most once per `kBweIncreaseInterval` (ibid.).
const GROWTH: f64 = 1.08;
const GROWTH_LEAST: Rate = Rate::from_kbps(1);
const GROWTH_INTERVAL: Duration = Duration::from_secs(1);
/// Minimum number of packets for a loss estimate: `kLimitNumPackets` (ibid.).
const LEAST_PACKETS: u32 = 20;

/// Queueing delay above which the rate is held; twice this delay lowers it. It is
/// measured as the excess over the shortest round trip, because reports contain no packet
/// delays. Chosen by us: half of the limit for a conversation in ITU-T G.114, and GCC's
/// decrease.
const QUEUE: Duration = Duration::from_millis(100);
const BACKOFF: f64 = 0.85;
/// Longest plausible round trip: chosen by us.
const MAX_RTT: Duration = Duration::from_secs(10);

/// Time without reports after which the rate falls. It is longer than elsewhere, where
/// feedback is more frequent: video's reports come every second (RFC 4585 section 3.4 and
/// libwebrtc), audio's every five (RFC 3550 section 6.2).
const REPORT_SILENCE: Duration = Duration::from_secs(6);

/// Controller for a path without per-packet feedback: RTCP receiver reports give the loss
/// share and the round trip, about once a second.
#[derive(Debug)]
pub struct Reports {
    limits: Limits,
    target: Rate,
    /// Packets since the last evaluation.
    expected: u32,
    lost: u32,
    loss: f64,
    round_trip: BaseDelay,
    grown_at: Instant,
    /// Time of the first packet since the last report, and of the last decrease because
    /// of silence.
    sent_at: Option<Instant>,
    dropped_at: Option<Instant>,
    state: &'static str,
}

impl Reports {
    /// Starts at the start rate.
    #[must_use]
    pub fn new(limits: Limits, now: Instant) -> Reports {
        let limits = limits.ordered();
        Reports {
            limits,
            target: limits.start,
            expected: 0,
            lost: 0,
            loss: 0.0,
            round_trip: BaseDelay::new(TEN_MINUTES),
            grown_at: now,
            sent_at: None,
            dropped_at: None,
            state: "increase",
        }
    }

    fn set_target(&mut self, rate: Rate, state: &'static str) {
        self.target = self.limits.clamp(rate);
        self.state = state;
    }

    fn next_drop(&self) -> Option<Instant> {
        let sent_at = self.sent_at?;
        let next = match self.dropped_at {
            Some(at) => at + SILENCE_INTERVAL,
            None => sent_at + REPORT_SILENCE,
        };
        (self.target > self.limits.min).then_some(next)
    }

    /// Returns the path's queueing delay, as far as the round trip shows it.
    fn queue(&mut self, now: Instant, rtt: Option<Duration>) -> Duration {
        let Some(rtt) = rtt else {
            return Duration::ZERO;
        };
        let arrival = Instant::ZERO + rtt.min(MAX_RTT);
        let queue_ms = self.round_trip.queue_ms(now, Instant::ZERO, arrival);
        Duration::from_secs_f64(queue_ms / 1e3)
    }
}

impl Controller for Reports {
    fn on_packet_sent(&mut self, _packet: &SentPacket) {}

    fn on_unreported_sent(&mut self, now: Instant) {
        self.sent_at.get_or_insert(now);
    }

    fn on_feedback(&mut self, _now: Instant, _results: &[PacketResult], _rtt: Option<Duration>) {}

    fn on_report(&mut self, now: Instant, expected: u32, lost: u32, rtt: Option<Duration>) {
        self.sent_at = None;
        if self.dropped_at.take().is_some() {
            // Losses during an outage say nothing about the current path.
            (self.expected, self.lost) = (0, 0);
            self.set_target(self.target.max(self.limits.start), "increase");
            return;
        }
        let queue = self.queue(now, rtt);
        self.expected = self.expected.saturating_add(expected);
        self.lost = self.lost.saturating_add(lost.min(expected));
        if self.expected < LEAST_PACKETS {
            return;
        }
        self.loss = f64::from(self.lost) / f64::from(self.expected);
        (self.expected, self.lost) = (0, 0);
        if self.loss > HIGH_LOSS {
            self.set_target(self.target.mul_f64(1.0 - 0.5 * self.loss), "loss");
        } else if queue > QUEUE * 2 {
            self.set_target(self.target.mul_f64(BACKOFF), "overuse");
        } else if self.loss > LOW_LOSS || queue > QUEUE {
            self.state = "hold";
        } else if now.saturating_since(self.grown_at) >= GROWTH_INTERVAL {
            self.grown_at = now;
            self.set_target(self.target.mul_f64(GROWTH) + GROWTH_LEAST, "increase");
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.next_drop().is_some_and(|at| now >= at) {
            self.dropped_at = Some(now);
            self.set_target(self.target.mul_f64(SILENCE_DROP), "silence");
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        self.next_drop().map(|at| Deadline {
            at,
            reason: "no report",
        })
    }

    fn on_path_restored(&mut self, now: Instant) {
        *self = Reports::new(self.limits, now);
    }

    fn target_rate(&self) -> Rate {
        self.target
    }

    fn pacing_rate(&self) -> Rate {
        self.target.mul_f64(PACING_FACTOR)
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            target: self.target,
            acked: None,
            loss: self.loss,
            state: self.state,
        }
    }
}

#[cfg(test)]
mod tests;
