use weft_units::Instant;

/// Initial threshold: `threshold_(12.5)` (libwebrtc `trendline_estimator.cc`),
/// draft-ietf-rmcat-gcc-02 table 1.
const INITIAL_THRESHOLD: f64 = 12.5;
/// Range of the threshold: `threshold_` (ibid.).
const THRESHOLD_RANGE: (f64, f64) = (6.0, 600.0);
/// `k_up_` and `k_down_` per ms (libwebrtc `trendline_estimator.cc`).
const GAIN_UP: f64 = 0.0087;
const GAIN_DOWN: f64 = 0.039;
/// Excess above which the threshold does not move: `kMaxAdaptOffsetMs` (ibid.).
const MAX_ADAPT: f64 = 15.0;
/// `kMaxTimeDelta` of `UpdateThreshold` (ibid.).
const MAX_STEP_MS: f64 = 100.0;
/// Minimum duration of overuse: `kOverUsingTimeThreshold` (ibid.).
const OVERUSE_MS: f64 = 10.0;

/// State of the path's queue according to the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Usage {
    Normal,
    /// The queue grows.
    Over,
    /// The queue drains.
    Under,
}

/// Compares the trend with a threshold that adapts to it, so that flows that fill the
/// queue do not starve GCC (draft-ietf-rmcat-gcc-02 section 5.4).
#[derive(Debug)]
pub(super) struct OveruseDetector {
    threshold: f64,
    updated: Option<Instant>,
    previous_trend: f64,
    over_ms: Option<f64>,
    over_count: u32,
    usage: Usage,
}

impl OveruseDetector {
    pub(super) fn new() -> OveruseDetector {
        OveruseDetector {
            threshold: INITIAL_THRESHOLD,
            updated: None,
            previous_trend: 0.0,
            over_ms: None,
            over_count: 0,
            usage: Usage::Normal,
        }
    }

    pub(super) fn usage(&self) -> Usage {
        self.usage
    }

    pub(super) fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Updates the detector with a new trend: `trend` is
    /// [`super::trendline::Trendline::modified`], `deltas` the number of groups so far,
    /// the last one `send_ms` after its predecessor, complete at `arrival` in the
    /// receiver's clock.
    pub(super) fn update(&mut self, trend: f64, deltas: u32, send_ms: f64, arrival: Instant) {
        if deltas < 2 {
            self.usage = Usage::Normal;
            return;
        }
        if trend > self.threshold {
            // At first, half of the time since the previous group counts as overuse.
            let over_ms = self.over_ms.map_or(send_ms / 2.0, |ms| ms + send_ms);
            self.over_ms = Some(over_ms);
            self.over_count += 1;
            if over_ms > OVERUSE_MS && self.over_count > 1 && trend >= self.previous_trend {
                self.over_ms = Some(0.0);
                self.over_count = 0;
                self.usage = Usage::Over;
            }
        } else {
            self.over_ms = None;
            self.over_count = 0;
            self.usage = match trend < -self.threshold {
                true => Usage::Under,
                false => Usage::Normal,
            };
        }
        self.previous_trend = trend;
        self.adapt(trend.abs(), arrival);
    }

    fn adapt(&mut self, trend: f64, arrival: Instant) {
        let updated = self.updated.replace(arrival).unwrap_or(arrival);
        if trend > self.threshold + MAX_ADAPT {
            return; // for example, a sudden drop of the capacity
        }
        let gain = match trend < self.threshold {
            true => GAIN_DOWN,
            false => GAIN_UP,
        };
        let elapsed = (arrival.signed_nanos_since(updated) as f64 / 1e6).clamp(0.0, MAX_STEP_MS);
        self.threshold += gain * (trend - self.threshold) * elapsed;
        let (low, high) = THRESHOLD_RANGE;
        self.threshold = self.threshold.clamp(low, high);
    }
}

#[cfg(test)]
mod tests;
