//! Network-assisted dynamic adaptation, RFC 8698; sections and tables below
//! are the RFC's. What the RFC places at the receiver is computed here from
//! the feedback for each packet.

mod rate;
mod signal;

use crate::measure::{DeliveryRate, SILENCE_DROP, Silence, credible_delivery};
use crate::{Controller, Limits, PacketResult, ProbeCluster, SentPacket, Snapshot};
use rate::ReferenceRate;
use signal::CongestionSignal;
use weft_units::{Deadline, Duration, Instant, Rate};

/// `DELTA`, the interval of feedback (section 6.3, table 2). Ours may come
/// oftener; the equations are evaluated this often.
const DELTA: Duration = Duration::from_millis(100);
/// `LOGWIN`, the window of the receiver's statistics (ibid.).
const LOGWIN: Duration = Duration::from_millis(500);

/// NADA of RFC 8698: queueing delay, losses and marks make one congestion
/// signal, and the rate follows it.
///
/// Of section 4 the rate-shaping buffer is left out: the pacer's queue is the
/// session's, so the encoder's and the sending rate are both the reference
/// rate, as the equations give for an empty buffer.
#[derive(Debug)]
pub struct Nada {
    limits: Limits,
    signal: CongestionSignal,
    rate: ReferenceRate,
    received: DeliveryRate,
    updated: Option<Instant>,
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
            silence: Silence::default(),
        }
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
            // What an outage did says nothing about the path after it.
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

    fn set_demand(&mut self, _now: Instant, _demand: Rate) {}

    fn poll_probe(&mut self, _now: Instant) -> Option<ProbeCluster> {
        None
    }

    fn on_path_restored(&mut self, _now: Instant) {
        *self = Nada::new(self.limits);
    }

    fn target_rate(&self) -> Rate {
        self.rate.get()
    }

    /// The sending rate out of the rate-shaping buffer (section 4.3).
    fn pacing_rate(&self) -> Rate {
        self.rate.get()
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.silence.is_active() {
            true => "silence",
            false => self.rate.mode(),
        };
        Snapshot {
            target: self.rate.get(),
            acked: self.received.rate(),
            loss: self.signal.loss(),
            queue_trend: self.signal.congestion_ms(),
            state,
        }
    }
}
