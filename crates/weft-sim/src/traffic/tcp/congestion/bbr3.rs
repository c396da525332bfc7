//! BBR version 3 (draft-ietf-ccwg-bbr-01; sections in comments are its own).
//! Not modelled: ECN, which the draft leaves open.

mod bounds;
mod cycle;

use weft_units::{Duration, Instant, Rate, Rng};

use super::aggregation::Aggregation;
use super::filter::WindowedMax;
use super::{AckSample, CongestionControl, INITIAL_WINDOW, RecoveryWindow, Rounds, offload};
use crate::traffic::tcp::rate::{Limit, RateSample};
use crate::traffic::tcp::{HEADERS, PAYLOAD};
use bounds::Bounds;
use cycle::Cycle;

/// Section 5.3.1: 4 ln 2; section 5.3.2 for the drain.
const STARTUP_GAIN: f64 = 2.77;
const DRAIN_GAIN: f64 = 0.5;
const WINDOW_GAIN: f64 = 2.0;
/// Section 5.3.3.
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
const UP_WINDOW_GAIN: f64 = 2.25;
/// Section 5.3.4.
const PROBE_RTT_GAIN: f64 = 0.5;
const PROBE_RTT_EVERY: Duration = Duration::from_secs(5);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Section 2.7: of bandwidth probing cycles.
const BANDWIDTH_WINDOW: u64 = 2;
const MIN_WINDOW: f64 = 4.0;
const PACING_MARGIN: f64 = 0.99;
/// Section 5.3.1.2.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

pub(super) struct Bbr3 {
    state: State,
    rounds: Rounds,
    /// Segments per second, over cycles.
    bandwidth: WindowedMax,
    aggregation: Aggregation,
    bounds: Bounds,
    cycle: Cycle,
    full: FullPipe,
    min_rtt: MinRtt,
    window: f64,
    prior_window: f64,
    pacing: f64,
    rng: Rng,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    /// `done_at` once the window has shrunk.
    ProbeRtt {
        done_at: Option<Instant>,
        round_done: bool,
    },
}

/// Whether more is delivered when more is sent (section 5.3.1.2).
#[derive(Default)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached_now: bool,
    reached: bool,
}

/// Section 5.5.5: the least round trip of the last 10 s, and of the last 5 s,
/// after which it is probed for.
struct MinRtt {
    min: Duration,
    at: Instant,
    recent: Duration,
    recent_at: Instant,
}

impl State {
    fn probes_bandwidth(self) -> bool {
        matches!(
            self,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    fn sends_more(self) -> bool {
        matches!(self, State::Startup | State::Refill | State::Up)
    }

    fn gains(self) -> (f64, f64) {
        match self {
            State::Startup => (STARTUP_GAIN, WINDOW_GAIN),
            State::Drain => (DRAIN_GAIN, WINDOW_GAIN),
            State::Down => (DOWN_GAIN, WINDOW_GAIN),
            State::Cruise | State::Refill => (1.0, WINDOW_GAIN),
            State::Up => (UP_GAIN, UP_WINDOW_GAIN),
            State::ProbeRtt { .. } => (1.0, PROBE_RTT_GAIN),
        }
    }
}

impl Bbr3 {
    /// With the round trip of the handshake.
    pub fn new(now: Instant, handshake: Duration, rng: Rng) -> Bbr3 {
        let window = f64::from(INITIAL_WINDOW);
        let rtt = handshake.max(Duration::from_micros(1));
        Bbr3 {
            state: State::Startup,
            rounds: Rounds::default(),
            bandwidth: WindowedMax::new(BANDWIDTH_WINDOW),
            aggregation: Aggregation::new(now),
            bounds: Bounds::default(),
            cycle: Cycle::new(now),
            full: FullPipe::default(),
            min_rtt: MinRtt {
                min: rtt,
                at: now,
                recent: rtt,
                recent_at: now,
            },
            window,
            prior_window: 0.0,
            pacing: STARTUP_GAIN * window / rtt.as_secs_f64() * PACING_MARGIN,
            rng,
        }
    }

    fn bandwidth(&self) -> f64 {
        self.bandwidth.max().min(self.bounds.bandwidth)
    }

    /// What path and round trip hold at `gain` times the bandwidth, with what
    /// offload keeps (section 5.6.4.2).
    fn inflight(&self, bandwidth: f64, gain: f64) -> f64 {
        self.budget(bandwidth * self.min_rtt.min.as_secs_f64() * gain)
    }

    /// As much with what offload keeps (`BBRQuantizationBudget`).
    fn budget(&self, held: f64) -> f64 {
        let burst = f64::from(self.burst());
        let most = held.max(3.0 * burst).max(MIN_WINDOW).ceil();
        most + if self.state == State::Up { 2.0 } else { 0.0 }
    }

    /// What may be in flight, the allowance for gathered acknowledgements
    /// included (`BBRUpdateMaxInflight`).
    fn max_inflight(&self) -> f64 {
        let held = self.bandwidth() * self.min_rtt.min.as_secs_f64() * self.state.gains().1;
        self.budget(held + self.aggregation.most())
    }

    fn update_bandwidth(&mut self, ack: &AckSample, rate: &RateSample) {
        let bandwidth = rate.per_second();
        if bandwidth > 0.0 && (bandwidth >= self.bandwidth.max() || rate.limit == Limit::Network) {
            self.bandwidth.update(self.cycle.count, bandwidth);
        }
        self.bounds.note(ack, rate);
        if self.bounds.round_ends(ack, rate) {
            if !self.state.sends_more() {
                self.bounds.adapt(self.bandwidth.max(), self.window);
            }
            self.bounds.begin_round();
        }
    }

    fn check_full(&mut self, round_begins: bool, rate: &RateSample) {
        if self.full.reached_now || !round_begins || rate.limit == Limit::Application {
            return;
        }
        let bandwidth = rate.per_second();
        if bandwidth >= self.full.bandwidth * FULL_GROWTH {
            self.full.restart(bandwidth);
            return;
        }
        self.full.rounds += 1;
        self.full.reached_now = self.full.rounds >= FULL_ROUNDS;
        self.full.reached |= self.full.reached_now;
    }

    fn leave_startup(&mut self, ack: &AckSample) {
        if self.state == State::Startup {
            if self.bounds.startup_loses_much() {
                self.full.reached = true;
                let held = self.inflight(self.bandwidth.max(), 1.0);
                self.bounds.longterm = held.max(self.bounds.inflight_latest);
            }
            if self.full.reached {
                self.state = State::Drain;
            }
        }
        let held = self.inflight(self.bandwidth.max(), 1.0);
        if self.state == State::Drain && f64::from(ack.in_flight) <= held {
            self.go_down(ack);
        }
    }

    fn update_min_rtt(&mut self, ack: &AckSample) -> bool {
        let min = &mut self.min_rtt;
        let age = |at| ack.now.saturating_since(at);
        let expired = age(min.recent_at) > PROBE_RTT_EVERY;
        if let Some(rtt) = ack.rtt
            && (rtt <= min.recent || expired)
        {
            (min.recent, min.recent_at) = (rtt, ack.now);
        }
        if min.recent <= min.min || age(min.at) > MIN_RTT_WINDOW {
            (min.min, min.at) = (min.recent, min.recent_at);
        }
        expired
    }

    fn probe_rtt(&mut self, ack: &AckSample, round_begins: bool, expired: bool) {
        let small = self.probe_rtt_window();
        let State::ProbeRtt {
            done_at,
            round_done,
        } = &mut self.state
        else {
            if expired {
                self.save_window();
                self.state = State::ProbeRtt {
                    done_at: None,
                    round_done: false,
                };
                self.cycle.stop_probing();
                self.rounds.restart(ack);
            }
            return;
        };
        match done_at {
            None if f64::from(ack.in_flight) <= small => {
                *done_at = Some(ack.now + PROBE_RTT_TIME);
                self.rounds.restart(ack);
            }
            None => {}
            Some(at) => {
                *round_done |= round_begins;
                if *round_done && ack.now > *at {
                    self.min_rtt.recent_at = ack.now;
                    self.window = self.window.max(self.prior_window);
                    self.bounds.lift_shortterm();
                    if self.full.reached {
                        self.go_down(ack);
                        self.state = State::Cruise;
                    } else {
                        self.state = State::Startup;
                    }
                }
            }
        }
    }

    fn probe_rtt_window(&self) -> f64 {
        self.inflight(self.bandwidth(), PROBE_RTT_GAIN)
            .max(MIN_WINDOW)
    }

    fn save_window(&mut self) {
        self.prior_window =
            if self.bounds.in_recovery || matches!(self.state, State::ProbeRtt { .. }) {
                self.prior_window.max(self.window)
            } else {
                self.window
            };
    }

    /// Section 5.6.4.
    fn update_window(&mut self, ack: &AckSample) {
        let most = self.max_inflight();
        let delivered = f64::from(ack.delivered);
        self.window = (self.window - f64::from(ack.lost)).max(1.0);
        if self.full.reached {
            self.window = (self.window + delivered).min(most);
        } else if self.window < most || ack.total_delivered < u64::from(INITIAL_WINDOW) {
            self.window += delivered;
        }
        self.window = self.window.max(MIN_WINDOW);
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.window = self.window.min(self.probe_rtt_window());
        }
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.longterm,
            State::Cruise | State::ProbeRtt { .. } => self.bounds.with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        let cap = cap.min(self.bounds.shortterm).max(MIN_WINDOW);
        self.window = self.window.min(cap);
    }
}

impl FullPipe {
    fn restart(&mut self, bandwidth: f64) {
        self.bandwidth = bandwidth;
        self.rounds = 0;
        self.reached_now = false;
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, ack: &AckSample) {
        let begins = self.rounds.on_ack(ack);
        self.cycle.on_round(begins);
        if let Some(rate) = &ack.rate {
            self.update_bandwidth(ack, rate);
            self.check_full(begins, rate);
        }
        if begins && !self.full.reached {
            // In startup one round is remembered, no more.
            self.aggregation.restart(ack.now);
        }
        let bandwidth = self.bandwidth();
        self.aggregation
            .on_ack(ack, bandwidth, self.rounds.count, self.window);
        self.leave_startup(ack);
        self.run_cycle(ack, begins);
        let expired = self.update_min_rtt(ack);
        self.probe_rtt(ack, begins, expired);
        let rate = self.bandwidth() * self.state.gains().0 * PACING_MARGIN;
        if rate > 0.0 && (self.full.reached || rate > self.pacing) {
            self.pacing = rate;
        }
        if ack.delivered > 0 {
            self.update_window(ack);
        }
    }

    fn on_congestion(&mut self, _now: Instant, _in_flight: u32) {
        self.save_window();
        self.bounds.in_recovery = true;
    }

    fn on_timeout(&mut self, _now: Instant, _in_flight: u32) {
        self.save_window();
        self.bounds.in_recovery = true;
        self.window = 1.0;
    }

    fn on_recovered(&mut self, _now: Instant) {
        if self.bounds.in_recovery {
            self.window = self.window.max(self.prior_window);
        }
        self.bounds.in_recovery = false;
    }

    fn window(&self) -> u32 {
        self.window as u32
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let bits = self.pacing * f64::from(HEADERS + PAYLOAD) * 8.0;
        Some(Rate::from_bps((bits as u64).max(1)))
    }

    /// The draft's quantum (section 5.6.3), as Linux has it.
    fn burst(&self) -> u32 {
        offload(self.pacing)
    }

    fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }

    fn recovery(&self) -> RecoveryWindow {
        RecoveryWindow::Own
    }
}
