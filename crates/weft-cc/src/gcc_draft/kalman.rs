use super::arrival::Variation;

/// `q`, the state noise variance (section 5.3, table 1).
const STATE_NOISE: f64 = 1e-3;
/// `e(0)` (ibid.).
const INITIAL_ERROR: f64 = 0.1;
/// `chi`, from the range 0.1 to 0.001 (ibid.); the middle on a logarithmic scale, chosen
/// by us.
const CHI: f64 = 0.01;
/// Lower bound of `var_v_hat`, in ms squared (ibid.).
const MIN_NOISE: f64 = 1.0;
/// Number of standard deviations beyond which an innovation is clipped for the noise
/// estimate (ibid.; of either sign, as in libwebrtc's `overuse_estimator.cc`).
const OUTLIER: f64 = 3.0;
/// Rate to which `alpha` is normalised (ibid.): 30 groups a second.
const NOMINAL_RATE: f64 = 30.0;
/// `K`, the number of groups that determine `f_max`. The draft gives no number; chosen by
/// us: about a second of video in bursts.
const GROUPS: usize = 60;
/// Shortest plausible interval between groups, in ms; it keeps `f_max` finite.
const MIN_INTERVAL_MS: f64 = 0.1;

/// Arrival-time filter (section 5.3): a scalar Kalman filter that estimates the queueing
/// delay gradient `m(i)` from the variations `d(i)`.
#[derive(Debug)]
pub(super) struct Kalman {
    /// `m_hat`, in ms per group.
    gradient_ms: f64,
    /// `e`, the variance of its error.
    error: f64,
    /// `var_v_hat`, the variance of the noise in ms squared.
    noise: f64,
    /// Last intervals between departures, in ms, as a ring.
    intervals_ms: [f64; GROUPS],
    groups: usize,
}

impl Kalman {
    pub(super) fn new() -> Kalman {
        Kalman {
            gradient_ms: 0.0,
            error: INITIAL_ERROR,
            noise: MIN_NOISE,
            intervals_ms: [f64::INFINITY; GROUPS],
            groups: 0,
        }
    }

    /// Returns `m_hat(i)` in ms.
    pub(super) fn gradient_ms(&self) -> f64 {
        self.gradient_ms
    }

    pub(super) fn update(&mut self, variation: &Variation) {
        self.intervals_ms[self.groups % GROUPS] = variation.departure_ms.max(MIN_INTERVAL_MS);
        self.groups = self.groups.wrapping_add(1);
        let innovation = variation.delay_ms() - self.gradient_ms;
        self.estimate_noise(innovation);
        let predicted = self.error + STATE_NOISE;
        let gain = predicted / (self.noise + predicted);
        self.gradient_ms += innovation * gain;
        self.error = (1.0 - gain) * predicted;
    }

    /// Computes `var_v_hat(i) = max(alpha var_v_hat(i-1) + (1 - alpha) z(i)^2, 1)` with
    /// `alpha = (1 - chi)^(30 / (1000 f_max))`.
    fn estimate_noise(&mut self, innovation: f64) {
        let shortest = self
            .intervals_ms
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let max_rate = 1000.0 / shortest;
        let alpha = (1.0 - CHI).powf(NOMINAL_RATE / max_rate);
        let limit = OUTLIER * self.noise.sqrt();
        let z = innovation.clamp(-limit, limit);
        self.noise = (alpha * self.noise + (1.0 - alpha) * z * z).max(MIN_NOISE);
    }
}

#[cfg(test)]
mod tests;
