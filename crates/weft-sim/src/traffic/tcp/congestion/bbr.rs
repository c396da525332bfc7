//! BBR version 3 (draft-ietf-ccwg-bbr-01; section numbers below refer to it), and version
//! 2, which differs in the numbers of its [`Version`]. ECN is not modelled; the draft
//! does not define it.

mod bounds;
mod cycle;
mod inflight;
mod probing;

use weft_units::{Duration, Instant, Rate, Rng};

use super::aggregation::Aggregation;
use super::filter::WindowedMax;
use super::{AckSample, CongestionControl, INITIAL_WINDOW, RecoveryWindow, Rounds, on_the_link};
use crate::traffic::tcp::rate::{Limit, RateSample};
use bounds::{Bounds, MIN_WINDOW};
use cycle::Cycle;

/// Parameters that differ between the versions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Version {
    startup_gain: f64,
    /// Gain of the window, in startup and drain.
    startup_window_gain: f64,
    drain_gain: f64,
    down_gain: f64,
    up_window_gain: f64,
    /// Number of loss events in a round of startup that end startup.
    startup_losses: u32,
}

impl Version {
    /// Version 3: sections 5.3.1 (4 ln 2), 5.3.2, 5.3.3 and 5.3.1.3.
    pub const THREE: Version = Version {
        startup_gain: 2.77,
        startup_window_gain: 2.0,
        drain_gain: 0.5,
        down_gain: 0.9,
        up_window_gain: 2.25,
        startup_losses: 6,
    };

    /// Version 2: `tcp_bbr2.c` of Google's BBR v2 alpha, and
    /// draft-cardwell-iccrg-bbr-congestion-control-02, 2 / ln 2 and its inverse.
    pub const TWO: Version = Version {
        startup_gain: 2.885,
        startup_window_gain: 2.885,
        drain_gain: 1.0 / 2.885,
        down_gain: 0.75,
        up_window_gain: 2.0,
        startup_losses: 8,
    };
}

const WINDOW_GAIN: f64 = 2.0;
/// Pacing gain while probing up (section 5.3.3).
const UP_GAIN: f64 = 1.25;
/// Section 5.3.4.
const PROBE_RTT_GAIN: f64 = 0.5;
const PROBE_RTT_EVERY: Duration = Duration::from_secs(5);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// Window of the bandwidth maximum, in bandwidth probing cycles (section 2.7).
const BANDWIDTH_WINDOW: u64 = 2;
const PACING_MARGIN: f64 = 0.99;
/// Section 5.3.1.2.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;

pub(super) struct Bbr {
    version: Version,
    state: State,
    rounds: Rounds,
    /// Bandwidth in segments per second, over cycles.
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
    /// Ends at `done_at`, which is set once the window has shrunk.
    ProbeRtt {
        done_at: Option<Instant>,
        round_done: bool,
    },
}

/// Detects whether more is delivered when more is sent (section 5.3.1.2).
#[derive(Default)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    reached_now: bool,
    reached: bool,
}

/// Smallest round trip of the last 10 s, and of the last 5 s, after which BBR probes for
/// it (section 5.5.5).
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

    /// Returns the gains of pacing and window.
    fn gains(self, version: Version) -> (f64, f64) {
        match self {
            State::Startup => (version.startup_gain, version.startup_window_gain),
            State::Drain => (version.drain_gain, version.startup_window_gain),
            State::Down => (version.down_gain, WINDOW_GAIN),
            State::Cruise | State::Refill => (1.0, WINDOW_GAIN),
            State::Up => (UP_GAIN, version.up_window_gain),
            State::ProbeRtt { .. } => (1.0, PROBE_RTT_GAIN),
        }
    }
}

impl Bbr {
    /// Starts with the round trip of the handshake.
    pub fn new(version: Version, now: Instant, handshake: Duration, rng: Rng) -> Bbr {
        let window = f64::from(INITIAL_WINDOW);
        let rtt = handshake.max(Duration::from_micros(1));
        Bbr {
            version,
            state: State::Startup,
            rounds: Rounds::default(),
            bandwidth: WindowedMax::new(BANDWIDTH_WINDOW),
            aggregation: Aggregation::new(now),
            bounds: Bounds::new(version.startup_losses),
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
            pacing: version.startup_gain * window / rtt.as_secs_f64() * PACING_MARGIN,
            rng,
        }
    }

    /// Returns the largest number in flight, including the allowance for aggregated
    /// acknowledgements (`BBRUpdateMaxInflight`).
    fn max_inflight(&self) -> f64 {
        let held =
            self.bandwidth() * self.min_rtt.min.as_secs_f64() * self.state.gains(self.version).1;
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

    /// Updates the window (section 5.6.4).
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

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &AckSample) {
        let begins = self.rounds.on_ack(ack);
        self.cycle.on_round(begins);
        if let Some(rate) = &ack.rate {
            self.update_bandwidth(ack, rate);
            self.check_full(begins, rate);
        }
        if begins && !self.full.reached {
            // In startup, only one round is remembered.
            self.aggregation.restart(ack.now);
        }
        let bandwidth = self.bandwidth();
        self.aggregation
            .on_ack(ack, bandwidth, self.rounds.count, self.window);
        self.leave_startup(ack);
        self.run_cycle(ack, begins);
        let expired = self.update_min_rtt(ack);
        self.probe_rtt(ack, begins, expired);
        let rate = self.bandwidth() * self.state.gains(self.version).0 * PACING_MARGIN;
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
        Some(on_the_link(self.pacing))
    }

    fn is_probing_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }

    fn recovery(&self) -> RecoveryWindow {
        RecoveryWindow::Own
    }
}
