//! Bandwidth of a connection through a policer (`bbr_lt_bw_sampling`): after two
//! intervals with high loss and equal delivery, BBR paces for a while at that rate
//! instead of the maximum delivery rate.

use weft_units::{Duration, Instant};

use crate::packet::tcp::PAYLOAD;
use crate::traffic::tcp::congestion::AckSample;
use crate::traffic::tcp::rate::Limit;

/// Shortest interval in rounds (`bbr_lt_intvl_min_rtts`), and length at which it is
/// abandoned.
const LEAST_ROUNDS: u32 = 4;
const MOST_ROUNDS: u32 = 4 * LEAST_ROUNDS;
/// Lost segments relative to delivered ones (`bbr_lt_loss_thresh`).
const LOST: f64 = 50.0 / 256.0;
/// Largest difference between two intervals: relative to the first, or in segments a
/// second (`bbr_lt_bw_ratio`, `bbr_lt_bw_diff`).
const RATIO: f64 = 1.0 / 8.0;
const DIFFERENCE: f64 = 500.0 / PAYLOAD as f64;
/// Rounds for which the result is used (`bbr_lt_bw_max_rtts`).
const HOLDS: u32 = 48;
const SHORTEST: Duration = Duration::from_millis(1);

#[derive(Default)]
pub(super) struct Policed {
    /// Segments per second of the last interval, or of the last two.
    bandwidth: Option<f64>,
    in_use: bool,
    interval: Option<Interval>,
    rounds: u32,
}

struct Interval {
    since: Instant,
    delivered: u64,
    lost: u64,
}

impl Policed {
    /// Returns the bandwidth that replaces the maximum delivery rate.
    pub fn bandwidth(&self) -> Option<f64> {
        self.bandwidth.filter(|_| self.in_use)
    }

    /// Processes an acknowledgement; returns whether to probe for the bandwidth again.
    pub fn on_ack(&mut self, ack: &AckSample, round_begins: bool, probes: bool) -> bool {
        if self.in_use {
            self.rounds += u32::from(probes && round_begins);
            let over = self.rounds >= HOLDS;
            if over {
                *self = Policed::default();
            }
            return over;
        }
        if self.interval.is_none() && ack.lost > 0 {
            self.begin(ack);
        }
        let Some(interval) = &self.interval else {
            return false;
        };
        self.rounds += u32::from(round_begins);
        let limited = ack.rate.is_some_and(|r| r.limit == Limit::Application);
        if limited || self.rounds > MOST_ROUNDS {
            *self = Policed::default();
            return false;
        }
        let delivered = (ack.total_delivered - interval.delivered) as f64;
        let lost = (ack.total_lost - interval.lost) as f64;
        let time = ack.now.saturating_since(interval.since);
        let ends = self.rounds >= LEAST_ROUNDS && ack.lost > 0 && time >= SHORTEST;
        if ends && delivered > 0.0 && lost >= LOST * delivered {
            self.end(ack, delivered / time.as_secs_f64());
        }
        false
    }

    fn begin(&mut self, ack: &AckSample) {
        self.rounds = 0;
        self.interval = Some(Interval {
            since: ack.now,
            delivered: ack.total_delivered,
            lost: ack.total_lost,
        });
    }

    fn end(&mut self, ack: &AckSample, bandwidth: f64) {
        let same = |before: &f64| (bandwidth - before).abs() <= (RATIO * before).max(DIFFERENCE);
        match self.bandwidth.filter(same) {
            Some(before) => {
                self.bandwidth = Some((before + bandwidth) / 2.0);
                self.in_use = true;
                self.rounds = 0;
            }
            None => {
                self.bandwidth = Some(bandwidth);
                self.begin(ack);
            }
        }
    }
}

#[cfg(test)]
mod tests;
