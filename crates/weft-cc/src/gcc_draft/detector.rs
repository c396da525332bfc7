/// `del_var_th(0)` in ms (section 5.4, table 1).
const INITIAL_THRESHOLD_MS: f64 = 12.5;
/// Range of `del_var_th` in ms (ibid.).
const THRESHOLD_RANGE_MS: (f64, f64) = (6.0, 600.0);
/// `K_u` and `K_d` per ms (ibid.).
const GAIN_UP: f64 = 0.01;
const GAIN_DOWN: f64 = 0.00018;
/// Excess over the threshold above which a gradient does not move it (ibid.).
const MAX_EXCESS_MS: f64 = 15.0;
/// `overuse_time_th` in ms (ibid.).
const OVERUSE_MS: f64 = 10.0;
/// Longest time for which one update moves the threshold: `kMaxTimeDelta` (libwebrtc
/// `UpdateThreshold`); without this limit, a pause would move it across its range.
const MAX_STEP_MS: f64 = 100.0;

/// Signal of the detector to the rate control.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Signal {
    #[default]
    Normal,
    OverUse,
    UnderUse,
}

/// Over-use detector with its adaptive threshold (section 5.4).
#[derive(Debug)]
pub(super) struct Detector {
    threshold_ms: f64,
    previous_ms: f64,
    /// Time in ms for which the gradient has been above or below.
    over_ms: f64,
    under_ms: f64,
    signal: Signal,
}

impl Detector {
    pub(super) fn new() -> Detector {
        Detector {
            threshold_ms: INITIAL_THRESHOLD_MS,
            previous_ms: 0.0,
            over_ms: 0.0,
            under_ms: 0.0,
            signal: Signal::Normal,
        }
    }

    pub(super) fn signal(&self) -> Signal {
        self.signal
    }

    /// Returns `del_var_th` in ms.
    pub(super) fn threshold_ms(&self) -> f64 {
        self.threshold_ms
    }

    /// Updates the detector with the gradient `m(i)` of a group that arrived `elapsed_ms`
    /// after the previous one.
    pub(super) fn update(&mut self, gradient_ms: f64, elapsed_ms: f64) -> Signal {
        let elapsed_ms = elapsed_ms.clamp(0.0, MAX_STEP_MS);
        let above = gradient_ms > self.threshold_ms;
        let below = gradient_ms < -self.threshold_ms;
        self.over_ms = if above {
            self.over_ms + elapsed_ms
        } else {
            0.0
        };
        self.under_ms = if below {
            self.under_ms + elapsed_ms
        } else {
            0.0
        };
        self.signal = if self.over_ms >= OVERUSE_MS && gradient_ms >= self.previous_ms {
            Signal::OverUse
        } else if self.under_ms >= OVERUSE_MS {
            Signal::UnderUse
        } else {
            Signal::Normal
        };
        self.previous_ms = gradient_ms;
        self.adapt(gradient_ms.abs(), elapsed_ms);
        self.signal
    }

    fn adapt(&mut self, gradient_ms: f64, elapsed_ms: f64) {
        let excess = gradient_ms - self.threshold_ms;
        if excess > MAX_EXCESS_MS {
            return;
        }
        let gain = if excess < 0.0 { GAIN_DOWN } else { GAIN_UP };
        let (low, high) = THRESHOLD_RANGE_MS;
        self.threshold_ms = (self.threshold_ms + elapsed_ms * gain * excess).clamp(low, high);
    }
}

#[cfg(test)]
mod tests;
