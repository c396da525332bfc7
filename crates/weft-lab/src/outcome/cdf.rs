//! Distribution functions of samples.

use serde::Serialize;

use super::Outcome;
use crate::measure::percentiles::{Percentiles, QUANTITIES};

/// Distribution function.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cdf {
    /// The variant's name.
    pub system: String,
    /// The quantity, with its unit.
    pub of: &'static str,
    /// Its values at 0 %, 1 %, ... 100 % of the samples.
    pub quantiles: Vec<f64>,
}

impl Outcome<'_> {
    /// Returns the distribution functions over all seeds.
    #[must_use]
    pub fn cdfs(&self) -> Vec<Cdf> {
        let mut cdfs = Vec::new();
        for (at, of) in QUANTITIES.into_iter().enumerate() {
            for (variant, runs) in self.scenario.variants.iter().zip(&self.percentiles) {
                let mut runs = runs[at].clone();
                // Runs end in any order.
                runs.sort_by_key(|(seed, _)| *seed);
                let runs: Vec<Percentiles> = runs.into_iter().map(|(_, own)| own).collect();
                let together = Percentiles::together(&runs);
                cdfs.extend(together.map(|all| Cdf {
                    system: variant.name.clone(),
                    of,
                    quantiles: all.values,
                }));
            }
        }
        cdfs
    }
}
