//! What is measured of a run, each metric in one place with its formula and
//! source. [`ALL`] is the list; [`measure`] gives the values of one run.
//!
//! A metric without suffix is about the flows under test: the calls, or all
//! flows where there is none. `NAME.FLOW` and `NAME.LINK` single one out.

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

pub use alone::{CastFigures, against_alone, harm};
pub use fairness::{fair_share, flow_rate_equality, jain};
pub use rates::convergence;
pub use table::{
    ALL, Better, Casts, KEY, Metric, Owners, check_name, complete, find, harmed, pair, position,
    rank,
};

/// What a scenario wants to be measured beside the run as a whole.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// From when to when sections last.
    pub sections: &'a [(Duration, Duration)],
    /// Pairs of flows, as [`pair`] gives them.
    pub pairs: &'a [&'a str],
}

/// All values of the run, its sections and pairs that exist, in the order of
/// [`ALL`], those of single flows and links behind that of the whole. What
/// compares with a run of the flows alone is in [`against_alone`].
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
    // A sum of nothing is -0.
    for (_, value) in &mut values {
        *value += 0.0;
    }
    values
}

/// Mbit/s of these flows together within the window.
#[must_use]
pub fn throughput(run: &Run<'_>, flows: &[usize], window: (Duration, Duration)) -> f64 {
    let each = flows.iter();
    each.map(|&flow| rates::throughput(run, flow, window)).sum()
}

#[cfg(test)]
mod tests;
