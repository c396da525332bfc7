//! Delays as they come, until they are summed up.

use weft_experiment::{DelaySample, Distribution};
use weft_units::Duration;

/// Delays of one period, kept until it ends; and of the run, in buckets.
#[derive(Default)]
pub(crate) struct Delays {
    period: Vec<u64>,
    run: Distribution,
}

/// Whether a period counts in what is said of the whole run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Measured {
    Yes,
    No,
}

impl Delays {
    pub fn add(&mut self, delay: Duration) {
        self.period.push(delay.as_nanos());
    }

    /// The end of a period.
    pub fn take_period(&mut self, measured: Measured) -> DelaySample {
        let sample = match measured {
            Measured::Yes => self.run.add_period(&mut self.period),
            Measured::No => DelaySample::of(&mut self.period),
        };
        self.period.clear();
        sample
    }

    /// All periods that were measured.
    pub fn take_distribution(&mut self) -> Distribution {
        std::mem::take(&mut self.run)
    }
}

#[cfg(test)]
mod tests;
