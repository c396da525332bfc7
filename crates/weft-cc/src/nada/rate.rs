use super::signal::{Mode, Report};
use crate::Limits;
use weft_units::{Duration, Rate};

/// `DELTA`, the feedback interval (section 6.3, table 2). Our feedback may be more
/// frequent; the equations are evaluated at this interval.
pub(super) const DELTA: Duration = Duration::from_millis(100);

/// `PRIO`, the default weight of the flow (section 6.3, table 2).
const PRIORITY: f64 = 1.0;
/// Range of plausible weights: chosen by us.
const PRIORITY_RANGE: (f64, f64) = (0.01, 100.0);
/// `XREF` in ms: congestion at which a flow stays at the highest rate (section 6.3, table
/// 2).
const XREF_MS: f64 = 10.0;
/// `KAPPA`, `ETA`, and `TAU` in ms: gains and time scale of the gradual
/// update (section 6.3, table 2).
const KAPPA: f64 = 0.5;
const ETA: f64 = 2.0;
const TAU_MS: f64 = 500.0;
/// `GAMMA_MAX`, `QBOUND` and `DFILT` in ms: bounds of the ramp-up (section 6.3, table 2).
const GAMMA_MAX: f64 = 0.5;
const QBOUND_MS: f64 = 50.0;
const DFILT_MS: f64 = 120.0;
/// Round trip until the caller knows it: `kDefaultRtt` (libwebrtc
/// `aimd_rate_control.cc`).
const DEFAULT_RTT: Duration = Duration::from_millis(200);

/// `r_ref`, the reference rate (section 4.3).
#[derive(Debug)]
pub(super) struct ReferenceRate {
    limits: Limits,
    /// `RMAX`: the limit, or the highest rate that the application wants.
    max: Rate,
    priority: f64,
    rate: Rate,
    previous_ms: f64,
    mode: Mode,
}

impl ReferenceRate {
    pub(super) fn new(limits: Limits) -> ReferenceRate {
        ReferenceRate {
            limits,
            max: limits.max,
            priority: PRIORITY,
            rate: limits.start,
            previous_ms: 0.0,
            mode: Mode::RampUp,
        }
    }

    pub(super) fn get(&self) -> Rate {
        self.rate
    }

    pub(super) fn set(&mut self, rate: Rate) {
        self.rate = rate.clamp(self.limits.min, self.max);
    }

    /// Sets the highest rate that the application would send.
    pub(super) fn set_demand(&mut self, demand: Rate) {
        self.max = self.limits.clamp(demand);
        self.set(self.rate);
    }

    /// Sets `PRIO`.
    pub(super) fn set_priority(&mut self, priority: f64) {
        let (low, high) = PRIORITY_RANGE;
        if !priority.is_nan() {
            self.priority = priority.clamp(low, high);
        }
    }

    /// Takes over demand and priority from before a reset of the path's estimates.
    pub(super) fn keep_application(&mut self, before: &ReferenceRate) {
        self.priority = before.priority;
        self.set_demand(before.max);
    }

    /// Returns the congestion in ms at which the rate is at equilibrium.
    pub(super) fn reference_ms(&self) -> f64 {
        let rate = (self.rate.as_bps() as f64).max(1.0);
        self.priority * XREF_MS * self.max.as_bps() as f64 / rate
    }

    pub(super) fn mode(&self) -> &'static str {
        match self.mode {
            Mode::RampUp => "ramp-up",
            Mode::Gradual => "gradual",
        }
    }

    /// Applies equations 3 to 7; `elapsed` is the time since the last report.
    pub(super) fn update(
        &mut self,
        report: &Report,
        received: Option<Rate>,
        rtt: Option<Duration>,
        elapsed: Duration,
    ) {
        self.mode = report.mode;
        let rate = match report.mode {
            Mode::RampUp => {
                let rtt_ms = rtt.unwrap_or(DEFAULT_RTT).as_millis_f64();
                let bound = rtt_ms + DELTA.as_millis_f64() + DFILT_MS;
                let gamma = GAMMA_MAX.min(QBOUND_MS / bound);
                let faster = received.map_or(Rate::ZERO, |rate| rate.mul_f64(1.0 + gamma));
                self.rate.max(faster)
            }
            Mode::Gradual => self.gradual(report.congestion_ms, elapsed),
        };
        self.previous_ms = report.congestion_ms;
        self.set(rate);
    }

    fn gradual(&self, congestion_ms: f64, elapsed: Duration) -> Rate {
        let rate = (self.rate.as_bps() as f64).max(1.0);
        let delta_ms = elapsed.as_millis_f64().min(TAU_MS);
        let max = self.max.as_bps() as f64;
        let offset_ms = congestion_ms - self.reference_ms();
        let diff_ms = congestion_ms - self.previous_ms;
        let change =
            KAPPA * (delta_ms / TAU_MS) * (offset_ms / TAU_MS) + KAPPA * ETA * (diff_ms / TAU_MS);
        // Computed as a float first, so that an absurd signal saturates and does not
        // wrap.
        Rate::from_bps((rate * (1.0 - change)).clamp(0.0, max) as u64)
    }
}

#[cfg(test)]
mod tests;
