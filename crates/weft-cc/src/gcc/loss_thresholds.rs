use super::loss_counts::LossCounts;
use crate::Limits;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Thresholds of the loss share: up to the first the rate grows, above the second it
/// falls by half of the share: `kDefaultLowLossThreshold`, `kDefaultHighLossThreshold`
/// (libwebrtc `send_side_bandwidth_estimation.cc`, copies of 2018 and 2022).
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.10;
/// Growth factor, applied with one more kilobit to the smallest rate of the last
/// `kBweIncreaseInterval` (ibid.).
const GROWTH: f64 = 1.08;
const GROWTH_MORE: Rate = Rate::from_kbps(1);
const INCREASE_INTERVAL: Duration = Duration::from_secs(1);
/// Shortest time between two decreases, in addition to a round trip:
/// `kBweDecreaseInterval` (ibid.).
const DECREASE_INTERVAL: Duration = Duration::from_millis(300);
/// Minimum number of packets for a loss estimate: `kLimitNumPackets` (ibid.).
const LEAST_PACKETS: u32 = 20;
/// Initial time without any loss in which the delay-based rate applies directly:
/// `kStartPhase` (ibid.).
const START: Duration = Duration::from_secs(2);

/// Loss-based half before version 2, with two thresholds.
#[derive(Debug)]
pub(super) struct LossThresholds {
    limits: Limits,
    target: Rate,
    counts: LossCounts,
    /// Loss share of the last evaluated packets.
    share: f64,
    /// Whether the rate has not yet fallen since that evaluation.
    may_fall: bool,
    fell_at: Option<Instant>,
    began_at: Option<Instant>,
    /// Smallest targets of the last second, the smallest first.
    history: Vec<(Instant, Rate)>,
}

impl LossThresholds {
    pub(super) fn new(limits: Limits) -> LossThresholds {
        LossThresholds {
            limits,
            target: limits.start,
            counts: LossCounts::new(),
            share: 0.0,
            may_fall: false,
            fell_at: None,
            began_at: None,
            history: Vec::new(),
        }
    }

    /// Records a reported packet.
    pub(super) fn on_packet(&mut self, number: u64, size: Bytes, lost: bool) {
        self.counts.on_packet(number, size, lost);
    }

    /// Applies a delay-based rate that a probe has measured (`SetSendBitrate`).
    pub(super) fn on_probe(&mut self, delay_based: Rate) {
        self.target = delay_based;
        self.history.clear();
    }

    /// Updates the estimate after all packets of a feedback message.
    pub(super) fn update(&mut self, now: Instant, delay_based: Rate, rtt: Duration) {
        let began_at = *self.began_at.get_or_insert(now);
        if self.counts.packets() >= LEAST_PACKETS {
            self.share = f64::from(self.counts.lost()) / f64::from(self.counts.packets());
            self.counts.clear();
            self.may_fall = true;
        }
        let least = self.least_of_late(now);
        if self.share == 0.0 && now.saturating_since(began_at) < START {
            self.target = self.target.max(delay_based);
        } else if self.share <= LOW_LOSS {
            self.target = least.mul_f64(GROWTH) + GROWTH_MORE;
        } else if self.share > HIGH_LOSS && self.may_fall && self.is_over(now, rtt) {
            self.target = self.target.mul_f64(1.0 - 0.5 * self.share);
            self.fell_at = Some(now);
            self.may_fall = false;
        }
        self.target = self.limits.clamp(self.target.min(delay_based));
    }

    pub(super) fn target(&self) -> Rate {
        self.target
    }

    /// Returns the loss share of the last evaluated packets.
    pub(super) fn share(&self) -> f64 {
        self.share
    }

    /// Returns whether losses prevent growth.
    pub(super) fn holds(&self) -> bool {
        self.share > LOW_LOSS
    }

    fn is_over(&self, now: Instant, rtt: Duration) -> bool {
        // The peer reports the round trip, which may be absurd: do not add to it.
        let waited = |at| now.saturating_since(at).saturating_sub(DECREASE_INTERVAL);
        self.fell_at.is_none_or(|at| waited(at) >= rtt)
    }

    /// Returns the smallest target of the last second (`UpdateMinHistory`).
    fn least_of_late(&mut self, now: Instant) -> Rate {
        let history = &mut self.history;
        history.retain(|(at, rate)| {
            now.saturating_since(*at) <= INCREASE_INTERVAL && *rate < self.target
        });
        history.push((now, self.target));
        self.history[0].1
    }
}

#[cfg(test)]
mod tests;
