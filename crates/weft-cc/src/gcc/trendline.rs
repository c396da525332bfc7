use super::inter_arrival::Delta;
use weft_units::Instant;

/// Groups in the regression: `kDefaultTrendlineWindowSize` (libwebrtc
/// `trendline_estimator.h`).
const WINDOW: usize = 20;

/// `kDefaultTrendlineSmoothingCoeff` (libwebrtc `trendline_estimator.cc`).
const SMOOTHING: f64 = 0.9;

/// `kDefaultTrendlineThresholdGain` (ibid.).
const GAIN: f64 = 4.0;

/// Largest number of groups by which the slope is multiplied: `kMinNumDeltas` (ibid.).
const MAX_DELTAS: u32 = 60;

/// Slope of the one-way delay over the last groups.
#[derive(Debug)]
pub(super) struct Trendline {
    first_arrival: Option<Instant>,
    deltas: u32,
    accumulated_ms: f64,
    smoothed_ms: f64,
    /// Ring of (arrival since the first, smoothed delay), both in ms.
    points: [(f64, f64); WINDOW],
    slope: f64,
}

impl Trendline {
    pub(super) fn new() -> Trendline {
        Trendline {
            first_arrival: None,
            deltas: 0,
            accumulated_ms: 0.0,
            smoothed_ms: 0.0,
            points: [(0.0, 0.0); WINDOW],
            slope: 0.0,
        }
    }

    /// Adds a group.
    pub(super) fn update(&mut self, delta: &Delta) {
        let first = *self.first_arrival.get_or_insert(delta.arrival);
        self.accumulated_ms += delta.arrival_ms - delta.send_ms;
        self.smoothed_ms = SMOOTHING * self.smoothed_ms + (1.0 - SMOOTHING) * self.accumulated_ms;
        let x = delta.arrival.signed_nanos_since(first) as f64 / 1e6;
        self.points[self.deltas as usize % WINDOW] = (x, self.smoothed_ms);
        self.deltas = self.deltas.wrapping_add(1).max(1);
        if self.deltas as usize >= WINDOW {
            self.slope = slope(&self.points).unwrap_or(self.slope);
        }
    }

    /// Returns the number of groups so far.
    pub(super) fn deltas(&self) -> u32 {
        self.deltas
    }

    /// Returns the slope with its gains, in the unit of the detector's threshold.
    pub(super) fn modified(&self) -> f64 {
        f64::from(self.deltas.min(MAX_DELTAS)) * self.slope * GAIN
    }
}

/// Returns the least-squares slope: sum((x - mx)(y - my)) / sum((x - mx)^2).
fn slope(points: &[(f64, f64); WINDOW]) -> Option<f64> {
    let n = WINDOW as f64;
    let mx = points.iter().map(|p| p.0).sum::<f64>() / n;
    let my = points.iter().map(|p| p.1).sum::<f64>() / n;
    let (num, den) = points.iter().fold((0.0, 0.0), |(num, den), (x, y)| {
        (num + (x - mx) * (y - my), den + (x - mx) * (x - mx))
    });
    (den > 0.0).then(|| num / den)
}

#[cfg(test)]
mod tests;
