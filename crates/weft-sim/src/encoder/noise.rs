use weft_units::Rng;

use super::Scatter;

/// Deviation of the cost of pictures from the mean: a first-order autoregressive process
/// of `log2` bits, mean zero.
#[derive(Clone, Debug)]
pub(super) struct Noise {
    scatter: Scatter,
    state: f64,
    rng: Rng,
}

/// Limit in standard deviations; chosen by us, so that no frame has an absurd size.
const FARTHEST: f64 = 3.0;

impl Noise {
    pub fn new(scatter: Scatter, mut rng: Rng) -> Noise {
        let state = rng.normal().clamp(-FARTHEST, FARTHEST);
        Noise {
            scatter,
            state,
            rng,
        }
    }

    /// Returns the next picture's deviation, as `log2` of its cost.
    pub fn next(&mut self) -> f64 {
        let rho = self.scatter.correlation;
        let fresh = self.rng.normal() * (1.0 - rho * rho).sqrt();
        self.state = (rho * self.state + fresh).clamp(-FARTHEST, FARTHEST);
        self.scatter.sigma * self.state
    }
}
