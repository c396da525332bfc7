//! Metrics of a run, each in one place with its formula and source. [`ALL`] is the list;
//! [`measure`] computes the values of one run.
//!
//! A metric without suffix covers the flows under test: the calls, or all flows if there
//! is no call. `NAME.FLOW` and `NAME.LINK` select one flow or link.

mod alone;
mod delays;
mod fairness;
mod goodput;
mod links;
mod protection;
mod radio;
mod rates;
mod round_trips;
mod sections;
mod sound;
mod table;
mod video;

use weft_units::Duration;

use super::run::{Run, Value};

pub use alone::{RunFigures, against_alone, harm};
pub use fairness::{fair_share, flow_rate_equality, jain};
pub use rates::convergence;
pub use table::{
    ALL, Better, KEY, Metric, Owners, RequiredRuns, check_name, complete, find, harmed, pair,
    position, rank,
};
pub use video::of_views;

/// Additional measurements that a scenario requests.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Start and end of each section.
    pub sections: &'a [(Duration, Duration)],
    /// Pairs of flows, as returned by [`pair`].
    pub pairs: &'a [&'a str],
}

/// Returns all values of the run, its sections and its pairs, in the order of [`ALL`];
/// values of single flows and links follow the total. [`against_alone`] computes the
/// comparisons with a run of the flows alone.
#[must_use]
pub fn measure(run: &Run<'_>, wanted: &Wanted<'_>) -> Vec<Value> {
    let mut values = Vec::new();
    rates::measure(run, &mut values);
    goodput::measure(run, &mut values);
    video::measure(run, &mut values);
    sound::measure(run, &mut values);
    protection::measure(run, &mut values);
    links::measure(run, &mut values);
    radio::measure(run, &mut values);
    delays::measure(run, &mut values);
    round_trips::measure(run, &mut values);
    fairness::measure(run, &mut values);
    fairness::measure_pairs(run, wanted.pairs, &mut values);
    sections::measure(run, wanted.sections, &mut values);
    values.sort_by_key(|(name, _)| position(name));
    values.retain(|(_, value)| value.is_finite());
    // An empty sum is -0.
    for (_, value) in &mut values {
        *value += 0.0;
    }
    values
}

/// Returns the sum of these flows' rates within the window, in Mbit/s.
#[must_use]
pub fn throughput(run: &Run<'_>, flows: &[usize], window: (Duration, Duration)) -> f64 {
    let each = flows.iter();
    each.map(|&flow| rates::throughput(run, flow, window)).sum()
}

#[cfg(test)]
mod tests;
