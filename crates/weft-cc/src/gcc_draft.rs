//! Google congestion control of the IETF draft, draft-ietf-rmcat-gcc-02; section and
//! table numbers below refer to the draft. Both controllers run at the sender, which the
//! draft allows (section 2).

mod arrival;
mod detector;
mod kalman;
mod loss;
mod rate_control;

use crate::measure::{DeliveryRate, SILENCE_DROP, Silence, credible_delivery};
use crate::{Controller, Internal, Limits, PacketResult, SentPacket, Snapshot};
use arrival::Arrivals;
use detector::{Detector, Signal};
use kalman::Kalman;
use loss::LossBased;
use rate_control::RateControl;
use weft_units::{Deadline, Duration, Instant, Rate};

/// `T`, the window of the incoming rate `R_hat` (section 5.5, table 1).
const INCOMING_WINDOW: Duration = Duration::from_millis(500);

/// GCC of draft-ietf-rmcat-gcc-02: arrival-time filter, adaptive threshold and rate
/// control give one estimate, loss gives another, and the smaller one applies.
#[derive(Debug)]
pub struct GccDraft {
    limits: Limits,
    target: Rate,
    arrivals: Arrivals,
    filter: Kalman,
    detector: Detector,
    rate_control: RateControl,
    loss: LossBased,
    incoming: DeliveryRate,
    silence: Silence,
}

impl GccDraft {
    /// Starts at the start rate.
    #[must_use]
    pub fn new(limits: Limits) -> GccDraft {
        let limits = limits.ordered();
        GccDraft {
            limits,
            target: limits.start,
            arrivals: Arrivals::default(),
            filter: Kalman::new(),
            detector: Detector::new(),
            rate_control: RateControl::new(limits),
            loss: LossBased::new(limits),
            incoming: DeliveryRate::new(INCOMING_WINDOW),
            silence: Silence::default(),
        }
    }

    fn take_result(&mut self, result: &PacketResult) {
        self.loss.on_packet(result.arrival.is_none());
        let Some(arrival) = result.arrival else {
            return;
        };
        self.incoming.on_packet(arrival, credible_delivery(result));
        let Some(variation) = self.arrivals.on_packet(result.sent.sent_at, arrival) else {
            return;
        };
        self.filter.update(&variation);
        let gradient = self.filter.gradient_ms();
        let signal = self.detector.update(gradient, variation.arrival_ms);
        self.rate_control.on_signal(signal, self.incoming.rate());
    }

    fn set_target(&mut self) {
        let rate = self.rate_control.estimate().min(self.loss.estimate());
        self.target = self.limits.clamp(rate);
    }

    /// Resets the estimates, because an outage says nothing about the path after it.
    fn resume(&mut self) {
        let rate = self.target.max(self.limits.start);
        self.rate_control.set_estimate(rate);
        self.loss = LossBased::new(self.limits);
        self.loss.set_estimate(rate);
        self.incoming = DeliveryRate::new(INCOMING_WINDOW);
    }
}

impl Controller for GccDraft {
    fn on_packet_sent(&mut self, packet: &SentPacket) {
        self.silence.on_sent(packet.sent_at);
    }

    fn on_feedback(&mut self, now: Instant, results: &[PacketResult], rtt: Option<Duration>) {
        if results.is_empty() {
            return;
        }
        if let Some(rtt) = rtt {
            self.rate_control.set_rtt(rtt);
        }
        if self.silence.on_feedback() {
            self.resume();
        } else {
            for result in results {
                self.take_result(result);
            }
            self.rate_control.update(now, self.incoming.rate());
            self.loss.update(now, self.rate_control.estimate());
        }
        self.set_target();
    }

    fn on_timeout(&mut self, now: Instant) {
        if self.target > self.limits.min && self.silence.drops(now) {
            let rate = self.target.mul_f64(SILENCE_DROP);
            self.rate_control.set_estimate(rate);
            self.set_target();
        }
    }

    fn poll_timeout(&self) -> Option<Deadline> {
        let lowers = self.target > self.limits.min;
        self.silence.poll_timeout().filter(|_| lowers)
    }

    fn on_path_restored(&mut self, _now: Instant) {
        *self = GccDraft::new(self.limits);
    }

    fn target_rate(&self) -> Rate {
        self.target
    }

    /// Returns the target: a group leaves every `burst_time`, as large as the target
    /// allows (section 4), so packets leave at the target and not above it.
    fn pacing_rate(&self) -> Rate {
        self.target
    }

    fn snapshot(&self) -> Snapshot {
        let state = match self.detector.signal() {
            _ if self.silence.is_active() => "silence",
            Signal::OverUse => "overuse",
            _ if self.loss.estimate() < self.rate_control.estimate() => "loss",
            Signal::UnderUse => "underuse",
            Signal::Normal => self.rate_control.state(),
        };
        Snapshot {
            target: self.target,
            acked: self.incoming.rate(),
            loss: self.loss.share(),
            state,
        }
    }

    fn internals(&self) -> Vec<Internal> {
        let mut all = vec![
            Internal::ms("gradient", self.filter.gradient_ms()),
            Internal::ms("threshold", self.detector.threshold_ms()),
            Internal::rate("delay_based", self.rate_control.estimate()),
            Internal::rate("loss_based", self.loss.estimate()),
        ];
        let incoming = self.incoming.rate();
        all.extend(incoming.map(|rate| Internal::rate("incoming", rate)));
        all.push(Internal::share("loss", self.loss.share()));
        all
    }
}
