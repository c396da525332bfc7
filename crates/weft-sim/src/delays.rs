//! Delays until they are summarized.

use weft_experiment::{DelaySample, Distribution};
use weft_units::Duration;

/// Delays of the current period, and of the run in buckets.
#[derive(Default)]
pub(crate) struct Delays {
    period: Vec<u64>,
    run: Distribution,
}

/// Whether a period counts in the results of the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Measured {
    Yes,
    No,
}

impl Delays {
    pub fn add(&mut self, delay: Duration) {
        self.period.push(delay.as_nanos());
    }

    /// Ends a period and returns its summary.
    pub fn take_period(&mut self, measured: Measured) -> DelaySample {
        let sample = match measured {
            Measured::Yes => self.run.add_period(&mut self.period),
            Measured::No => DelaySample::of(&mut self.period),
        };
        self.period.clear();
        sample
    }

    /// Returns the distribution of all measured periods.
    pub fn take_distribution(&mut self) -> Distribution {
        std::mem::take(&mut self.run)
    }
}

#[cfg(test)]
mod tests;
