//! Probing for bandwidth: down, cruise, refill, up (section 5.3.3).

use weft_units::Duration;

use super::bounds::{BETA, inflight_at_loss, too_high};
use super::cycle::{AckPhase, WAIT};
use super::{AckSample, Bbr, State};
use crate::traffic::tcp::rate::Limit;

/// Upper bound in rounds, to coexist with Reno.
const MOST_ROUNDS: f64 = 63.0;

impl Bbr {
    /// Processes one acknowledgement: losses, the long-term bound, the next state.
    pub(super) fn run_cycle(&mut self, ack: &AckSample, round_begins: bool) {
        let is_too_high = self.check_loss(ack);
        if !self.full.reached {
            return;
        }
        self.adapt_longterm(ack, round_begins, is_too_high);
        let held = self.inflight(self.bandwidth.max(), 1.0);
        let in_flight = f64::from(ack.in_flight);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack) => self.refill(ack),
            State::Down if in_flight <= self.bounds.with_headroom() && in_flight <= held => {
                self.state = State::Cruise;
            }
            State::Refill if round_begins => {
                self.cycle.samples = true;
                self.go_up(ack);
            }
            State::Up => self.leave_up(ack),
            _ => {}
        }
    }

    /// Checks whether the loss exceeds the threshold, that is, the probe went too far.
    fn check_loss(&mut self, ack: &AckSample) -> bool {
        let Some(lost) = ack.lost_sample.filter(too_high) else {
            return false;
        };
        if self.cycle.samples {
            self.cycle.samples = false;
            let target = self.target_inflight();
            self.bounds.longterm = inflight_at_loss(&lost).max(BETA * target);
            if self.state == State::Up {
                self.go_down(ack);
            }
        }
        true
    }

    fn target_inflight(&self) -> f64 {
        self.inflight(self.bandwidth(), 1.0).min(self.window)
    }

    fn adapt_longterm(&mut self, ack: &AckSample, round_begins: bool, is_too_high: bool) {
        let Some(rate) = &ack.rate else {
            return;
        };
        if self.cycle.phase == AckPhase::Starting && round_begins {
            self.cycle.phase = AckPhase::Feedback;
        }
        if self.cycle.phase == AckPhase::Stopping && round_begins {
            self.cycle.phase = AckPhase::Init;
            if self.state.probes_bandwidth() && rate.limit == Limit::Network {
                self.cycle.count += 1;
            }
        }
        if is_too_high || self.bounds.longterm.is_infinite() {
            return;
        }
        let sent = f64::from(rate.sent_in_flight);
        self.bounds.longterm = self.bounds.longterm.max(sent);
        if self.state == State::Up {
            self.raise_longterm(ack, round_begins);
        }
    }

    /// Raises the bound exponentially faster with each round, while it is the limit.
    fn raise_longterm(&mut self, ack: &AckSample, round_begins: bool) {
        if !ack.window_was_full || self.window < self.bounds.longterm {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.up_delivered += f64::from(ack.delivered);
        if cycle.up_delivered >= cycle.up_every {
            let more = (cycle.up_delivered / cycle.up_every).floor();
            cycle.up_delivered -= more * cycle.up_every;
            self.bounds.longterm += more;
        }
        if round_begins {
            cycle.steepen(self.window);
        }
    }

    fn is_time_to_probe(&self, ack: &AckSample) -> bool {
        let elapsed = ack.now.saturating_since(self.cycle.began_at);
        let reno = self.target_inflight().min(MOST_ROUNDS);
        elapsed > self.cycle.wait || f64::from(self.cycle.rounds) >= reno
    }

    /// Leaves the phase when the pipe is full, unless the long-term bound hides this.
    fn leave_up(&mut self, ack: &AckSample) {
        if ack.window_was_full && self.window >= self.bounds.longterm {
            let bandwidth = ack.rate.map_or(0.0, |r| r.per_second());
            self.full.restart(bandwidth);
        } else if self.full.reached_now {
            self.go_down(ack);
        }
    }

    pub(super) fn go_down(&mut self, ack: &AckSample) {
        self.bounds.begin_round();
        self.cycle.up_every = f64::INFINITY;
        // Randomized, to avoid synchronization with other flows in the queue.
        self.cycle.rounds = self.rng.below(2) as u32;
        self.cycle.wait = WAIT + Duration::from_secs_f64(self.rng.unit());
        self.cycle.began_at = ack.now;
        self.cycle.phase = AckPhase::Stopping;
        self.rounds.restart(ack);
        self.state = State::Down;
    }

    fn refill(&mut self, ack: &AckSample) {
        self.bounds.lift_shortterm();
        self.cycle.up_rounds = 0;
        self.cycle.up_delivered = 0.0;
        self.cycle.phase = AckPhase::Refilling;
        self.rounds.restart(ack);
        self.state = State::Refill;
    }

    fn go_up(&mut self, ack: &AckSample) {
        self.cycle.phase = AckPhase::Starting;
        self.rounds.restart(ack);
        self.full.restart(ack.rate.map_or(0.0, |r| r.per_second()));
        self.cycle.began_at = ack.now;
        self.state = State::Up;
        self.cycle.steepen(self.window);
    }
}
