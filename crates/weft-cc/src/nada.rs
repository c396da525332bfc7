//! Network-assisted dynamic adaptation, RFC 8698; section and table numbers below refer
//! to the RFC. Computations that the RFC places at the receiver run here, on the feedback
//! for each packet.

mod loss_intervals;
mod rate;
mod signal;

use crate::measure::{DeliveryRate, SILENCE_DROP, Silence, credible_delivery};
use crate::{Controller, Internal, Limits, PacketResult, SentPacket, Snapshot};
use rate::{DELTA, ReferenceRate};
use signal::{CongestionSignal, LOGWIN};
use weft_units::{Bytes, Deadline, Duration, Ecn, Instant, Rate};

/// `FPS`, `BETA_V` and `BETA_S`: strength with which the encoder slows down and the
/// sender speeds up when the rate-shaping buffer fills (section 5.2.2, table 2).
const FRAMES_PER_SECOND: f64 = 30.0;
const BETA_V: f64 = 0.1;
const BETA_S: f64 = 0.1;
/// Upper bound of both changes, as a share of the reference rate (section 5.2.2).
const SHAPING_MOST: f64 = 0.05;

/// NADA of RFC 8698: queueing delay, losses and marks form one congestion signal, which
/// the rate follows. The pacer's backlog is its rate-shaping buffer.
#[derive(Debug)]
pub struct Nada {
    limits: Limits,
    signal: CongestionSignal,
    rate: ReferenceRate,
    received: DeliveryRate,
    updated: Option<Instant>,
    /// `buffer_len`.
    backlog: Bytes,
    silence: Silence,
}

impl Nada {
    /// Starts at the start rate.
    #[must_use]
    pub fn new(limits: Limits) -> Nada {
        let limits = limits.ordered();
        Nada {
            limits,
            signal: CongestionSignal::default(),
            rate: ReferenceRate::new(limits),
            received: DeliveryRate::new(LOGWIN),
            updated: None,
            backlog: Bytes::ZERO,
            silence: Silence::default(),
        }
    }

    /// Returns `r_diff_v` or `r_diff_s`.
    fn shaping(&self, beta: f64) -> Rate {
        let most = self.rate.get().mul_f64(SHAPING_MOST);
        let bps = beta * 8.0 * self.backlog.0 as f64 * FRAMES_PER_SECOND;
        most.min(Rate::from_bps(bps as u64))
    }
}

impl Controller for Nada {
    fn on_packet_sent(&mut self, packet: &SentPacket) {
        self.silence.on_sent(packet.sent_at);
    }

    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], rtt: Option<Duration>) {
        if results.is_empty() {
            return;
        }
        if self.silence.on_feedback() {
            // An outage says nothing about the path after it.
            self.signal = CongestionSignal::default();
            self.received = DeliveryRate::new(LOGWIN);
            let rate = self.rate.get().max(self.limits.start);
            self.rate.set(rate);
            self.updated = Some(now);
            return;
        }
        for result in results {
            self.signal.on_packet(now, result);
            if let Some(arrival) = result.arrival {
                self.received.on_packet(arrival, credible_delivery(result));
            }
        }
        let updated = *self.updated.get_or_insert(now);
        let elapsed = now.saturating_since(updated);
        if elapsed >= DELTA {
            self.updated = Some(now);
            let report = self.signal.report();
            self.rate
                .update(&report, self.received.rate(), rtt, elapsed);
        }
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.rate.get() > self.limits.min && self.silence.drops(now) {
            self.rate.set(self.rate.get().mul_f64(SILENCE_DROP));
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let lowers = self.rate.get() > self.limits.min;
        self.silence.poll_timeout().filter(|_| lowers)
    }

    /// Sets `RMAX`.
    fn set_demand(&mut self, _now: Instant, demand: Rate) {
        self.rate.set_demand(demand);
    }

    /// Sets `PRIO`.
    fn set_weight(&mut self, weight: f64) {
        self.rate.set_priority(weight);
    }

    fn on_path_restored(&mut self, _now: Instant) {
        let mut fresh = Nada::new(self.limits);
        fresh.rate.keep_application(&self.rate);
        *self = fresh;
    }

    fn set_backlog(&mut self, waiting: Bytes) {
        self.backlog = waiting;
    }

    /// Returns ECT(0): marks are part of the congestion signal (section 4.2).
    fn ecn(&self) -> Ecn {
        Ecn::Ect0
    }

    /// Returns `r_vin`, for the encoder.
    fn target_rate(&self) -> Rate {
        let rate = self.rate.get().saturating_sub(self.shaping(BETA_V));
        self.limits.clamp(rate)
    }

    /// Returns `r_send`, out of the rate-shaping buffer.
    fn pacing_rate(&self) -> Rate {
        self.limits.clamp(self.rate.get() + self.shaping(BETA_S))
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.silence.is_active() {
            true => "silence",
            false => self.rate.mode(),
        };
        Snapshot {
            target: self.target_rate(),
            acked: self.received.rate(),
            loss: self.signal.loss(),
            state,
        }
    }

    /// Returns `x_curr` and its equilibrium value, `d_queue`, `r_ref`, `r_recv`, `p_loss`
    /// and `p_mark`.
    fn internals(&self) -> Vec<Internal> {
        let mut all = vec![
            Internal::ms("congestion", self.signal.congestion_ms()),
            Internal::ms("rest", self.rate.reference_ms()),
            Internal::ms("queue", self.signal.queue_ms()),
            Internal::rate("reference", self.rate.get()),
        ];
        let received = self.received.rate();
        all.extend(received.map(|rate| Internal::rate("received", rate)));
        all.push(Internal::bytes("backlog", self.backlog.0 as f64));
        all.push(Internal::share("loss", self.signal.loss()));
        all.push(Internal::share("marks", self.signal.marks()));
        all
    }
}

#[cfg(test)]
mod tests;
