//! Metrics of the sections of a run: `NAME#2`, and `NAME#2.FLOW` for a flow.

use weft_units::Duration;

use super::table::SECTIONED;
use super::{goodput, rates, round_trips, video};
use crate::measure::run::{Run, Value};

/// Adds each section's values, named by its number from 1.
pub fn measure(run: &Run<'_>, sections: &[(Duration, Duration)], values: &mut Vec<Value>) {
    for (number, (from, until)) in (1..).zip(sections) {
        let section = Run {
            from: *from,
            until: Some(*until),
            ..*run
        };
        let mut own = Vec::new();
        rates::measure(&section, &mut own);
        goodput::measure(&section, &mut own);
        video::measure(&section, &mut own);
        round_trips::measure(&section, &mut own);
        let named = own.into_iter().filter_map(|(name, value)| {
            let (base, owner) = match name.split_once('.') {
                Some((base, owner)) => (base, format!(".{owner}")),
                None => (name.as_str(), String::new()),
            };
            let is_sectioned = SECTIONED.contains(&base);
            is_sectioned.then(|| (format!("{base}#{number}{owner}"), value))
        });
        values.extend(named);
    }
}
