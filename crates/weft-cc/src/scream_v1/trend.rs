use crate::scream::queue_target::due;
use std::collections::VecDeque;
use weft_units::{Duration, Instant};

/// `QDELAY_WEIGHT` (section 4.1.1.1).
const WEIGHT: f64 = 0.1;
/// Length of `qdelay_fraction_hist` (section 4.1.1.2).
const HISTORY: usize = 20;
/// Sampling interval of the history (section 4.1.2).
const INTERVAL: Duration = Duration::from_millis(50);
/// Decay of `qdelay_trend_mem` per interval (section 4.1.2).
const MEMORY: f64 = 0.99;

/// Development of the queueing delay (section 4.1.2): `qdelay_trend`, from 0 for a
/// shrinking or empty queue to 1 for incipient congestion.
#[derive(Debug, Default)]
pub(super) struct Trend {
    /// `qdelay_fraction_avg`.
    average: f64,
    history: VecDeque<f64>,
    sampled: Option<Instant>,
    trend: f64,
    memory: f64,
}

impl Trend {
    /// Updates the trend with the queueing delay as a share of its target.
    pub(super) fn update(&mut self, now: Instant, fraction: f64) {
        if !due(&mut self.sampled, now, INTERVAL) {
            return;
        }
        self.average += WEIGHT * (fraction - self.average);
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(self.average);
        self.trend = (self.autocorrelation() * self.average).clamp(0.0, 1.0);
        self.memory = self.trend.max(MEMORY * self.memory);
    }

    /// Returns `qdelay_trend`.
    pub(super) fn get(&self) -> f64 {
        self.trend
    }

    /// Returns `qdelay_trend_mem`.
    pub(super) fn memory(&self) -> f64 {
        self.memory
    }

    /// Returns R(1) / R(0) of the history without its mean.
    fn autocorrelation(&self) -> f64 {
        let n = self.history.len() as f64;
        let mean = self.history.iter().sum::<f64>() / n;
        let centred = || self.history.iter().map(|x| x - mean);
        let r0: f64 = centred().map(|x| x * x).sum();
        let r1: f64 = centred().zip(centred().skip(1)).map(|(a, b)| a * b).sum();
        if r0 > 0.0 { r1 / r0 } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
