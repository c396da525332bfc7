//! Losses of flows to others: metrics that compare a run with a run of these flows alone,
//! on the same links and with the same seed.

use super::table::{Better, find, harmed};
use crate::measure::run::Value;

/// Figures of the flows in one of the two runs.
#[derive(Clone, Copy, Debug)]
pub struct RunFigures<'a> {
    /// Their rate while others compete in the first run, in Mbit/s.
    pub mbps: f64,
    /// All values of that run.
    pub values: &'a [Value],
    /// Suffix of their metrics, such as `.call`.
    pub suffix: &'a str,
}

impl RunFigures<'_> {
    fn value(&self, metric: &str) -> Option<f64> {
        let name = format!("{metric}{}", self.suffix);
        let mut values = self.values.iter();
        values.find(|(of, _)| *of == name).map(|(_, value)| *value)
    }
}

/// Returns the metric of this name, which needs both runs.
#[must_use]
pub fn against_alone(name: &str, together: &RunFigures<'_>, alone: &RunFigures<'_>) -> Option<f64> {
    match harmed(name) {
        None => harm(alone.mbps, together.mbps),
        Some(metric) => {
            let (alone, together) = (alone.value(metric)?, together.value(metric)?);
            match find(metric)?.better {
                Better::Higher => harm(alone, together),
                // Ware et al. 2019, section 4.1, for a metric that should be small.
                Better::Lower if together == alone => Some(0.0),
                Better::Lower => harm(together, alone),
                Better::Neither => None,
            }
        }
    }
}

/// Returns the harm of Grote et al. to a flow whose rate alone was `demand`; negative if
/// it got more than when alone; `None` without a demand.
#[must_use]
pub fn harm(demand: f64, rate: f64) -> Option<f64> {
    (demand > 0.0).then(|| (demand - rate) / demand)
}
