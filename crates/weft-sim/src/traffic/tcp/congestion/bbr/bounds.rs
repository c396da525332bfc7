//! Bounds on bandwidth and on the amount in flight, derived from losses.

use super::super::{AckSample, LostSample};
use crate::traffic::tcp::rate::RateSample;

/// Loss rate that is too high (section 2.7).
const LOSS_THRESHOLD: f64 = 0.02;
/// Reduction of a bound after a loss (section 2.7).
pub(super) const BETA: f64 = 0.7;
/// Free room into which other flows can grow (section 2.7).
const HEADROOM: f64 = 0.15;
/// Smallest window in segments (section 2.7).
pub(super) const MIN_WINDOW: f64 = 4.0;

/// Bounds in segments and segments per second; infinite until a loss.
pub(super) struct Bounds {
    /// `inflight_longterm`: over cycles.
    pub longterm: f64,
    /// `inflight_shortterm` and `bw_shortterm`: until the next probing.
    pub shortterm: f64,
    pub bandwidth: f64,
    pub in_recovery: bool,
    /// `inflight_latest` and `bw_latest`: maxima of this round.
    pub inflight_latest: f64,
    bandwidth_latest: f64,
    round_ends_at: u64,
    /// Acknowledgements of this round that showed losses.
    loss_events: u32,
    /// Loss events of the previous round, if all of it was spent in recovery, and its
    /// loss rate.
    startup: (u32, f64),
    /// Number of loss events that end startup (section 5.3.1.3).
    startup_losses: u32,
}

impl Bounds {
    pub fn new(startup_losses: u32) -> Bounds {
        Bounds {
            longterm: f64::INFINITY,
            shortterm: f64::INFINITY,
            bandwidth: f64::INFINITY,
            in_recovery: false,
            inflight_latest: 0.0,
            bandwidth_latest: 0.0,
            round_ends_at: 0,
            loss_events: 0,
            startup: (0, 0.0),
            startup_losses,
        }
    }

    pub fn note(&mut self, ack: &AckSample, rate: &RateSample) {
        self.inflight_latest = self.inflight_latest.max(rate.delivered as f64);
        self.bandwidth_latest = self.bandwidth_latest.max(rate.per_second());
        self.loss_events += u32::from(ack.lost > 0);
        if self.in_recovery {
            let share = rate.lost as f64 / f64::from(rate.sent_in_flight.max(1));
            self.startup = (self.loss_events, share);
        }
    }

    /// Returns whether a round of the loss signals has ended.
    pub fn round_ends(&mut self, ack: &AckSample, rate: &RateSample) -> bool {
        let ends = rate.prior_delivered >= self.round_ends_at;
        if ends {
            self.round_ends_at = ack.total_delivered;
        }
        ends
    }

    /// Adapts the short-term bounds (section 5.5.10.3).
    pub fn adapt(&mut self, max_bandwidth: f64, window: f64) {
        if self.loss_events == 0 {
            return;
        }
        let (bandwidth, inflight) = (
            self.bandwidth.min(max_bandwidth),
            if self.shortterm.is_finite() {
                self.shortterm
            } else {
                window
            },
        );
        self.bandwidth = self.bandwidth_latest.max(BETA * bandwidth);
        self.shortterm = self.inflight_latest.max(BETA * inflight);
    }

    pub fn begin_round(&mut self) {
        self.loss_events = 0;
        self.inflight_latest = 0.0;
        self.bandwidth_latest = 0.0;
    }

    pub fn lift_shortterm(&mut self) {
        self.shortterm = f64::INFINITY;
        self.bandwidth = f64::INFINITY;
    }

    pub fn startup_loses_much(&self) -> bool {
        self.in_recovery && self.startup.0 >= self.startup_losses && self.startup.1 > LOSS_THRESHOLD
    }

    /// Returns the long-term bound minus the headroom.
    pub fn with_headroom(&self) -> f64 {
        if self.longterm.is_infinite() {
            return self.longterm;
        }
        let headroom = (HEADROOM * self.longterm).max(1.0);
        (self.longterm - headroom).max(MIN_WINDOW)
    }
}

/// Returns whether more than the threshold of the segments in flight is lost
/// (`IsInflightTooHigh`).
pub(super) fn too_high(lost: &LostSample) -> bool {
    lost.lost as f64 > f64::from(lost.sent_in_flight) * LOSS_THRESHOLD
}

/// Returns the segments in flight when the loss rate crossed the threshold
/// (`BBRInflightAtLoss`).
pub(super) fn inflight_at_loss(lost: &LostSample) -> f64 {
    let before = f64::from(lost.sent_in_flight) - 1.0;
    let lost_before = lost.lost as f64 - 1.0;
    let prefix = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    before + prefix.max(0.0)
}
