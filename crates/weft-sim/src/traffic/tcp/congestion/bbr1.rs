//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), with the details of
//! Linux's `tcp_bbr.c` (6.1). Not modelled: Linux paces only from the tenth segment on,
//! accounts for segments that will have left by the next departure
//! (`bbr_packets_in_net_at_edt`), and lets a timeout start an interval of the policer.

mod policed;

use weft_units::{Duration, Instant, Rate, Rng};

use super::aggregation::Aggregation;
use super::filter::WindowedMax;
use super::{
    AckSample, CongestionControl, INITIAL_WINDOW, Phase, RecoveryWindow, Rounds, offload,
    on_the_link,
};
use crate::traffic::tcp::rate::Limit;
use policed::Policed;

/// Gain of 2 / ln 2, which doubles the rate each round trip (section 4.3.2.1).
const STARTUP_GAIN: f64 = 2.885;
const DRAIN_GAIN: f64 = 1.0 / STARTUP_GAIN;
/// Pacing gains of a cycle (section 4.3.4.1); the first one probes, the second one
/// drains.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Room for delayed and aggregated acknowledgements (section 4.2.3.2).
const WINDOW_GAIN: f64 = 2.0;
/// Window in rounds (section 4.1.1.3): a cycle plus two.
const BANDWIDTH_WINDOW: u64 = 10;
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// Smallest window that still pipelines with delayed acknowledgements.
const MIN_WINDOW: f64 = 4.0;
/// Growth below which, in three consecutive rounds, the pipe counts as full.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Largest allowance for aggregated acknowledgements: `bbr_extra_acked_max_us`.
const MOST_EXTRA: Duration = Duration::from_millis(100);
/// `bbr_pacing_margin_percent`.
const PACING_MARGIN: f64 = 0.99;

pub(super) struct Bbr1 {
    mode: Mode,
    rounds: Rounds,
    /// Bandwidth in segments per second.
    max_bandwidth: WindowedMax,
    policed: Policed,
    aggregation: Aggregation,
    min_rtt: Duration,
    min_rtt_at: Instant,
    window: f64,
    prior_window: f64,
    pacing: f64,
    full_bandwidth: f64,
    full_rounds: u32,
    in_recovery: bool,
    /// Whether the first round of recovery has not ended.
    conserving: bool,
    rng: Rng,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mode {
    Startup,
    Drain,
    ProbeBandwidth {
        phase: usize,
        since: Instant,
    },
    /// Ends at `done_at`, which is set once the window has shrunk.
    ProbeRtt {
        done_at: Option<Instant>,
        round_done: bool,
    },
}

impl Bbr1 {
    /// Starts with the round trip of the handshake.
    pub fn new(now: Instant, handshake: Duration, rng: Rng) -> Bbr1 {
        let window = f64::from(INITIAL_WINDOW);
        let rtt = handshake.max(Duration::from_micros(1));
        Bbr1 {
            mode: Mode::Startup,
            rounds: Rounds::default(),
            max_bandwidth: WindowedMax::new(BANDWIDTH_WINDOW),
            policed: Policed::default(),
            aggregation: Aggregation::new(now),
            min_rtt: rtt,
            min_rtt_at: now,
            window,
            prior_window: 0.0,
            pacing: STARTUP_GAIN * window / rtt.as_secs_f64() * PACING_MARGIN,
            full_bandwidth: 0.0,
            full_rounds: 0,
            in_recovery: false,
            conserving: false,
            rng,
        }
    }

    fn is_full(&self) -> bool {
        self.full_rounds >= FULL_ROUNDS
    }

    fn bandwidth(&self) -> f64 {
        let policed = self.policed.bandwidth();
        policed.unwrap_or(self.max_bandwidth.max())
    }

    /// Returns the gains of the pacing rate and of the window.
    fn gains(&self) -> (f64, f64) {
        match self.mode {
            Mode::Startup => (STARTUP_GAIN, STARTUP_GAIN),
            Mode::Drain => (DRAIN_GAIN, STARTUP_GAIN),
            Mode::ProbeBandwidth { .. } if self.policed.bandwidth().is_some() => (1.0, WINDOW_GAIN),
            Mode::ProbeBandwidth { phase, .. } => (CYCLE[phase], WINDOW_GAIN),
            Mode::ProbeRtt { .. } => (1.0, 1.0),
        }
    }

    /// Returns the segments in flight at `gain` times the bandwidth-delay product plus
    /// `extra` segments, with the offload budget of sender and receiver
    /// (`bbr_quantization_budget`).
    fn target(&self, bandwidth: f64, gain: f64, extra: f64) -> f64 {
        let held = bandwidth * self.min_rtt.as_secs_f64() * gain;
        let target = (held.ceil() + extra + 3.0 * f64::from(self.burst())) / 2.0;
        let probing = matches!(self.mode, Mode::ProbeBandwidth { phase: 0, .. });
        target.ceil() * 2.0 + if probing { 2.0 } else { 0.0 }
    }

    /// Returns the target at the measured bandwidth, without the policer.
    fn held(&self, gain: f64) -> f64 {
        self.target(self.max_bandwidth.max(), gain, 0.0)
    }

    /// Returns the allowance for late, aggregated acknowledgements
    /// (`bbr_ack_aggregation_cwnd`).
    fn extra(&self) -> f64 {
        if !self.is_full() {
            return 0.0;
        }
        let most = (self.bandwidth() * MOST_EXTRA.as_secs_f64()).floor();
        self.aggregation.most().min(most)
    }

    fn update_bandwidth(&mut self, ack: &AckSample) -> bool {
        let Some(rate) = ack.rate else {
            return false;
        };
        let begins = self.rounds.on_ack(ack);
        self.conserving &= !begins;
        let probes = matches!(self.mode, Mode::ProbeBandwidth { .. });
        if self.policed.on_ack(ack, begins, probes) {
            self.probe_bandwidth(ack.now);
        }
        let bandwidth = rate.per_second();
        let counts = rate.limit == Limit::Network || bandwidth >= self.max_bandwidth.max();
        if bandwidth > 0.0 && counts {
            self.max_bandwidth.update(self.rounds.count, bandwidth);
        }
        if begins && !self.is_full() && rate.limit == Limit::Network {
            let bandwidth = self.max_bandwidth.max();
            if bandwidth >= self.full_bandwidth * FULL_GROWTH {
                self.full_bandwidth = bandwidth;
                self.full_rounds = 0;
            } else {
                self.full_rounds += 1;
            }
        }
        begins
    }

    fn advance(&mut self, ack: &AckSample) {
        if self.mode == Mode::Startup && self.is_full() {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && f64::from(ack.in_flight) <= self.held(1.0) {
            self.probe_bandwidth(ack.now);
        }
        let Mode::ProbeBandwidth { phase, since } = self.mode else {
            return;
        };
        let long = ack.now.saturating_since(since) > self.min_rtt;
        let before = f64::from(ack.in_flight + ack.delivered + ack.lost);
        let over = match self.gains().0 {
            gain if gain > 1.0 => long && (ack.lost > 0 || before >= self.held(gain)),
            gain if gain < 1.0 => long || before <= self.held(1.0),
            _ => long,
        };
        if over {
            self.mode = Mode::ProbeBandwidth {
                phase: (phase + 1) % CYCLE.len(),
                since: ack.now,
            };
        }
    }

    /// Starts with a random phase other than the draining one (section 4.3.4.2).
    fn probe_bandwidth(&mut self, now: Instant) {
        let back = self.rng.below(CYCLE.len() as u64 - 1) as usize;
        self.mode = Mode::ProbeBandwidth {
            phase: (CYCLE.len() - back) % CYCLE.len(),
            since: now,
        };
    }

    fn update_min_rtt(&mut self, ack: &AckSample, round_begins: bool) {
        let expired = ack.now.saturating_since(self.min_rtt_at) > MIN_RTT_WINDOW;
        if let Some(rtt) = ack.rtt
            && (rtt <= self.min_rtt || expired)
        {
            self.min_rtt = rtt;
            self.min_rtt_at = ack.now;
        }
        if expired && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.prior_window = self.saved_window();
            self.mode = Mode::ProbeRtt {
                done_at: None,
                round_done: false,
            };
        }
        let Mode::ProbeRtt {
            done_at,
            round_done,
        } = &mut self.mode
        else {
            return;
        };
        match done_at {
            None if f64::from(ack.in_flight) <= MIN_WINDOW => {
                *done_at = Some(ack.now + PROBE_RTT_TIME);
                self.rounds.restart(ack);
            }
            None => {}
            Some(at) => {
                *round_done |= round_begins;
                if *round_done && ack.now > *at {
                    self.min_rtt_at = ack.now;
                    self.window = self.window.max(self.prior_window);
                    if self.is_full() {
                        self.probe_bandwidth(ack.now);
                    } else {
                        self.mode = Mode::Startup;
                    }
                }
            }
        }
    }

    fn saved_window(&self) -> f64 {
        if !self.in_recovery && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.window
        } else {
            self.prior_window.max(self.window)
        }
    }

    fn update_window(&mut self, ack: &AckSample) {
        let delivered = f64::from(ack.delivered);
        if ack.delivered > 0 {
            self.window = self.window_after(ack, delivered);
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.window = self.window.min(MIN_WINDOW);
        }
    }

    /// Returns the window after an acknowledgement (`bbr_set_cwnd`).
    fn window_after(&mut self, ack: &AckSample, delivered: f64) -> f64 {
        let mut window = (self.window - f64::from(ack.lost)).max(1.0);
        let recovering = ack.phase == Phase::Recovery;
        if recovering && !self.in_recovery {
            self.in_recovery = true;
            self.conserving = true;
            self.rounds.restart(ack);
            window = f64::from(ack.in_flight) + delivered;
        }
        if self.conserving {
            return window.max(f64::from(ack.in_flight) + delivered);
        }
        let target = self.target(self.bandwidth(), self.gains().1, self.extra());
        if self.is_full() {
            window = (window + delivered).min(target);
        } else if window < target || ack.total_delivered < u64::from(INITIAL_WINDOW) {
            window += delivered;
        }
        window.max(MIN_WINDOW)
    }
}

impl CongestionControl for Bbr1 {
    fn on_ack(&mut self, ack: &AckSample) {
        let begins = self.update_bandwidth(ack);
        let bandwidth = self.bandwidth();
        self.aggregation
            .on_ack(ack, bandwidth, self.rounds.count, self.window);
        self.advance(ack);
        self.update_min_rtt(ack, begins);
        let rate = self.bandwidth() * self.gains().0 * PACING_MARGIN;
        if rate > 0.0 && (self.is_full() || rate > self.pacing) {
            self.pacing = rate;
        }
        self.update_window(ack);
    }

    fn on_congestion(&mut self, _now: Instant, _in_flight: u32) {
        self.prior_window = self.saved_window();
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {
        self.prior_window = self.saved_window();
        self.in_recovery = true;
        self.conserving = false;
        self.full_bandwidth = 0.0;
        self.window = 1.0;
    }

    fn on_recovered(&mut self, _now: Instant) {
        if self.in_recovery {
            self.window = self.window.max(self.prior_window);
        }
        self.in_recovery = false;
        self.conserving = false;
    }

    fn window(&self) -> u32 {
        self.window as u32
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(on_the_link(self.pacing))
    }

    fn burst(&self) -> u32 {
        offload(self.pacing)
    }

    fn is_probing_rtt(&self) -> bool {
        matches!(self.mode, Mode::ProbeRtt { .. })
    }

    fn recovery(&self) -> RecoveryWindow {
        RecoveryWindow::Own
    }
}

#[cfg(test)]
mod tests;
