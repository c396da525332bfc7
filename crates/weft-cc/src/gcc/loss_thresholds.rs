use super::loss_counts::LossCounts;
use crate::Limits;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Up to the first share of loss the rate grows, above the second it falls by
/// half of the share: `kDefaultLowLossThreshold`, `kDefaultHighLossThreshold`
/// (libwebrtc `send_side_bandwidth_estimation.cc`, copies of 2018 and 2022).
const LOW_LOSS: f64 = 0.02;
const HIGH_LOSS: f64 = 0.10;
/// To this and a kilobit more than the least rate of the last
/// `kBweIncreaseInterval` (ibid.).
const GROWTH: f64 = 1.08;
const GROWTH_MORE: Rate = Rate::from_kbps(1);
const INCREASE_INTERVAL: Duration = Duration::from_secs(1);
/// It falls once in this time and a round trip: `kBweDecreaseInterval` (ibid.).
const DECREASE_INTERVAL: Duration = Duration::from_millis(300);
/// Losses are judged over so many packets: `kLimitNumPackets` (ibid.).
const LEAST_PACKETS: u32 = 20;
/// So long without any loss the delay-based rate is taken at once:
/// `kStartPhase` (ibid.).
const START: Duration = Duration::from_secs(2);

/// The loss-based half until version 2 of it came on: two thresholds.
#[derive(Debug)]
pub(super) struct LossThresholds {
    limits: Limits,
    target: Rate,
    counts: LossCounts,
    /// Of the last packets that were judged.
    share: f64,
    /// Since they were judged it has not fallen.
    may_fall: bool,
    fell_at: Option<Instant>,
    began_at: Option<Instant>,
    /// The least targets of the last second, the least of all first.
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

    /// A packet was reported.
    pub(super) fn on_packet(&mut self, number: u64, size: Bytes, lost: bool) {
        self.counts.on_packet(number, size, lost);
    }

    /// A probe has measured this delay-based rate (`SetSendBitrate`).
    pub(super) fn on_probe(&mut self, delay_based: Rate) {
        self.target = delay_based;
        self.history.clear();
    }

    /// All packets of a feedback were given.
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

    /// The share of the last packets that were judged.
    pub(super) fn share(&self) -> f64 {
        self.share
    }

    /// Losses keep it from growing.
    pub(super) fn holds(&self) -> bool {
        self.share > LOW_LOSS
    }

    fn is_over(&self, now: Instant, rtt: Duration) -> bool {
        // A round trip is the peer's claim and may be absurd: it is not added to.
        let waited = |at| now.saturating_since(at).saturating_sub(DECREASE_INTERVAL);
        self.fell_at.is_none_or(|at| waited(at) >= rtt)
    }

    /// The least target of the last second (`UpdateMinHistory`).
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
