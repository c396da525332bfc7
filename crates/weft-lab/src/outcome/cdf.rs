//! Distribution functions of what was sampled.

use serde::Serialize;

use super::{CDF_OF, Outcome};
use crate::statistics::quantile;

/// The points of a distribution function: 0 %, 1 %, ... 100 %.
const CDF_POINTS: u32 = 100;

/// A distribution function.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cdf {
    /// The variant's name.
    pub system: String,
    /// What was measured of each packet or frame, with its unit.
    pub of: &'static str,
    /// Its values at 0 %, 1 %, ... 100 % of the samples.
    pub quantiles: Vec<f64>,
}

impl Outcome<'_> {
    /// Distribution functions over all seeds.
    #[must_use]
    pub fn cdfs(&self) -> Vec<Cdf> {
        let mut cdfs = Vec::new();
        for (of, name) in CDF_OF.iter().enumerate() {
            for (variant, samples) in self.scenario.variants.iter().zip(&self.samples) {
                let mut sorted = samples[of].clone();
                sorted.sort_by(f64::total_cmp);
                let points = (0..=CDF_POINTS)
                    .map(|p| quantile(&sorted, f64::from(p) / f64::from(CDF_POINTS)));
                if let Some(quantiles) = points.collect::<Option<Vec<f64>>>() {
                    cdfs.push(Cdf {
                        system: variant.name.clone(),
                        of: name,
                        quantiles,
                    });
                }
            }
        }
        cdfs
    }
}
