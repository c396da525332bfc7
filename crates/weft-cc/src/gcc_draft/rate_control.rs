use super::detector::Signal;
use crate::Limits;
use weft_units::{Duration, Instant, Rate};

/// `beta` (section 5.5, table 1).
const BETA: f64 = 0.85;
/// `eta` per second (section 5.5).
const ETA: f64 = 1.08;
/// Highest multiple of the incoming rate for the estimate (ibid.).
const LEAD: f64 = 1.5;
/// Smoothing of the incoming rate at decreases and of its variance (ibid.).
const SMOOTHING: f64 = 0.95;
/// Number of standard deviations around that average that count as close to convergence
/// (ibid.).
const DEVIATIONS: f64 = 3.0;
/// `response_time` is the sum of the round trip and this (ibid.).
const RESPONSE: Duration = Duration::from_millis(100);
/// Packets added per response time (ibid.).
const ADDITIVE: f64 = 0.5;
/// Smallest additive step in bits (ibid.).
const MIN_STEP: f64 = 1000.0;
/// Expected packet: a frame at this rate, in packets of at most this many bits (ibid.).
const FRAMES_PER_SECOND: f64 = 30.0;
const PACKET_BITS: f64 = 1200.0 * 8.0;
/// Round trip until the caller knows it: `kDefaultRtt` (libwebrtc
/// `aimd_rate_control.cc`).
const DEFAULT_RTT: Duration = Duration::from_millis(200);
/// Longest plausible round trip: chosen by us.
const MAX_RTT: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Increase,
    Decrease,
    Hold,
}

/// Rate control (section 5.5): additive or multiplicative increase, multiplicative
/// decrease.
#[derive(Debug)]
pub(super) struct RateControl {
    limits: Limits,
    /// `A_hat`.
    estimate: Rate,
    state: State,
    rtt: Duration,
    updated: Option<Instant>,
    convergence: Convergence,
}

impl RateControl {
    pub(super) fn new(limits: Limits) -> RateControl {
        RateControl {
            limits,
            estimate: limits.start,
            state: State::Increase,
            rtt: DEFAULT_RTT,
            updated: None,
            convergence: Convergence::default(),
        }
    }

    pub(super) fn estimate(&self) -> Rate {
        self.estimate
    }

    pub(super) fn set_rtt(&mut self, rtt: Duration) {
        self.rtt = rtt.min(MAX_RTT);
    }

    /// Sets the estimate from another source than the detector.
    pub(super) fn set_estimate(&mut self, rate: Rate) {
        self.estimate = self.limits.clamp(rate);
    }

    pub(super) fn state(&self) -> &'static str {
        match self.state {
            State::Increase => "increase",
            State::Decrease => "decrease",
            State::Hold => "hold",
        }
    }

    /// Applies the table of the state machine: over-use always decreases, under-use
    /// always holds; otherwise hold follows decrease, and increase follows hold.
    pub(super) fn on_signal(&mut self, signal: Signal, incoming: Option<Rate>) {
        let next = match (signal, self.state) {
            (Signal::OverUse, _) => State::Decrease,
            (Signal::UnderUse, _) | (Signal::Normal, State::Decrease) => State::Hold,
            (Signal::Normal, State::Hold | State::Increase) => State::Increase,
        };
        let entered = next == State::Decrease && self.state != State::Decrease;
        self.state = next;
        if let (State::Decrease, Some(incoming)) = (next, incoming) {
            if entered {
                self.convergence.on_decrease(incoming);
            }
            let rate = incoming.mul_f64(BETA).min(self.estimate);
            self.estimate = self.limits.clamp(rate);
        }
    }

    /// Increases the estimate after all groups of a feedback message.
    pub(super) fn update(&mut self, now: Instant, incoming: Option<Rate>) {
        let updated = self.updated.replace(now).unwrap_or(now);
        if self.state != State::Increase {
            return;
        }
        let elapsed = now.saturating_since(updated);
        let rate = self.estimate.as_bps() as f64;
        let more = match self.convergence.is_close(incoming) {
            true => (self.additive_step(elapsed)).max(MIN_STEP),
            false => rate * (ETA.powf(elapsed.as_secs_f64().min(1.0)) - 1.0),
        };
        self.estimate = Rate::from_bps((rate + more) as u64);
        if let Some(incoming) = incoming {
            self.estimate = self.estimate.min(incoming.mul_f64(LEAD));
        }
        self.estimate = self.limits.clamp(self.estimate);
    }

    fn additive_step(&self, elapsed: Duration) -> f64 {
        let response = (self.rtt + RESPONSE).as_secs_f64();
        let share = (elapsed.as_secs_f64() / response).min(1.0);
        let frame = self.estimate.as_bps() as f64 / FRAMES_PER_SECOND;
        let packets = (frame / PACKET_BITS).ceil().max(1.0);
        ADDITIVE * share * frame / packets
    }
}

/// Average and variance of the incoming rate at decreases, in kbps.
#[derive(Debug, Default)]
struct Convergence {
    average: Option<f64>,
    variance: f64,
}

impl Convergence {
    fn on_decrease(&mut self, incoming: Rate) {
        let sample = incoming.as_kbps();
        let average = self.average.unwrap_or(sample);
        let error = sample - average;
        self.average = Some(SMOOTHING * average + (1.0 - SMOOTHING) * sample);
        self.variance = SMOOTHING * self.variance + (1.0 - SMOOTHING) * error * error;
    }

    /// Returns whether the capacity is near. A rate above the rate at decreases means
    /// that the capacity has changed; the average is then forgotten.
    fn is_close(&mut self, incoming: Option<Rate>) -> bool {
        let (Some(average), Some(incoming)) = (self.average, incoming) else {
            return false;
        };
        let deviation = DEVIATIONS * self.variance.sqrt();
        let error = incoming.as_kbps() - average;
        if error > deviation {
            *self = Convergence::default();
        }
        error.abs() <= deviation
    }
}

#[cfg(test)]
mod tests;
