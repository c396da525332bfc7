//! Rates of all runs in each second, aligned at the start of the flows under test.

use std::collections::BTreeMap;

use serde::Serialize;
use weft_units::Duration;

use crate::measure::series::{Series, to_four_digits};
use crate::scenario::{Scenario, Variant};
use crate::statistics::quantile;

/// Maximum number of points of a profile, so that longer runs take no more memory than
/// runs of twenty minutes; chosen by us: more than a screen shows.
const MOST_POINTS: u64 = 1_200;

/// Number of variants above which only flows under test have a profile; chosen by us, so
/// that the profiles take about as much space in a report as its time series.
const OF_ALL_FLOWS: usize = 48;

/// Rate that a flow received, or that a link could carry, in each second over the runs of
/// all seeds. In runs of more than twenty minutes a point covers several seconds.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Profile {
    /// The variant's name.
    pub system: String,
    /// Name of the flow or link.
    pub of: String,
    /// Quantity: `rate_mbps` of a flow, `capacity_mbps` of a link.
    pub name: &'static str,
    /// End of the first point, counted from the start of the flows under test.
    pub from_s: i64,
    /// Seconds from one point to the next.
    pub step_s: i64,
    /// Lower quartile of each second, Mbit/s; `None` if no run has a value.
    pub lower: Vec<Option<f64>>,
    /// Median of each second, Mbit/s.
    pub median: Vec<Option<f64>>,
    /// Upper quartile of each second, Mbit/s.
    pub upper: Vec<Option<f64>>,
}

/// Seconds of a run, by flow or link.
type Seconds = Vec<(&'static str, String, Vec<Second>)>;

/// Number and value of a second. Second 1 ends one second after the start; earlier ones
/// have smaller numbers. Longer steps are numbered in the same way.
type Second = (i64, f64);

const NAMES: [&str; 2] = ["rate_mbps", "capacity_mbps"];

/// Returns the start of the first flow under test, relative to the start of a run.
fn start(variant: &Variant) -> Duration {
    let starts = variant.focus.iter();
    let starts = starts.map(|&flow| variant.setup.flows[flow].start);
    starts.min().unwrap_or_default()
}

/// Seconds of the runs so far, by variant and seed.
#[derive(Debug, Default)]
pub struct Profiles(BTreeMap<(usize, u64), Seconds>);

impl Profiles {
    /// Adds a run with all flows.
    pub fn add(&mut self, scenario: &Scenario, of: (usize, u64), series: &Series) {
        let variants = &scenario.variants;
        let all_flows = variants.len() <= OF_ALL_FLOWS;
        let step = step_of(scenario);
        let seconds = seconds(&variants[of.0], series, all_flows, step as f64);
        self.0.insert(of, seconds);
    }

    /// Returns the profile of each flow and link of each variant.
    pub fn of(&self, scenario: &Scenario) -> Vec<Profile> {
        let step = step_of(scenario);
        let variants = scenario.variants.iter().enumerate();
        let all = variants.flat_map(|(index, variant)| {
            let runs = self.0.range((index, 0)..(index + 1, 0));
            let runs: Vec<&Seconds> = runs.map(|(_, seconds)| seconds).collect();
            let first = runs.first().map_or(&[][..], |seconds| seconds);
            let columns: Vec<_> = first.iter().map(|(name, of, _)| (*name, of)).collect();
            let profile = |(name, of): (&'static str, &String)| {
                let own = runs.iter().flat_map(|run| run.iter());
                let own = own.filter(|(known, owner, _)| *known == name && owner == of);
                let own = own.map(|(.., seconds)| seconds);
                profile((&variant.name, name, of), own, step)
            };
            columns.into_iter().filter_map(profile).collect::<Vec<_>>()
        });
        all.collect()
    }
}

/// Returns the seconds between the points of a profile.
fn step_of(scenario: &Scenario) -> i64 {
    let seconds = scenario.duration().as_secs_f64().ceil() as u64;
    seconds.div_ceil(MOST_POINTS).max(1) as i64
}

/// Returns the means over the seconds of a run, or over longer steps, for all flows or
/// for those under test.
fn seconds(variant: &Variant, series: &Series, all_flows: bool, step: f64) -> Seconds {
    let start = start(variant).as_secs_f64();
    let is_focus = |of: &str| {
        let mut focus = variant.focus.iter();
        focus.any(|&flow| variant.setup.flows[flow].name == of)
    };
    let mut all = Seconds::new();
    for column in &series.columns {
        let Some(name) = NAMES.into_iter().find(|name| column.name == *name) else {
            continue;
        };
        if name == "rate_mbps" && !all_flows && !is_focus(&column.of) {
            continue;
        }
        let mut means: Vec<(i64, f64, u32)> = Vec::new();
        for (end, value) in series.t.iter().zip(&column.values) {
            let Some(value) = value else { continue };
            // Seconds as fractions of two are not exact.
            let second = ((end - start - 1e-6) / step).ceil() as i64;
            match means.last_mut().filter(|last| last.0 == second) {
                Some((_, sum, count)) => {
                    *sum += value;
                    *count += 1;
                }
                None => means.push((second, *value, 1)),
            }
        }
        let means = means.into_iter();
        let means = means.map(|(second, sum, count)| (second, sum / f64::from(count)));
        all.push((name, column.of.clone(), means.collect()));
    }
    all
}

fn profile<'a>(
    (system, name, of): (&str, &'static str, &str),
    runs: impl Iterator<Item = &'a Vec<Second>>,
    step: i64,
) -> Option<Profile> {
    let mut values: Vec<Second> = runs.flatten().copied().collect();
    values.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (from_s, until) = (values.first()?.0, values.last()?.0);
    let quartile = |share: f64| -> Vec<Option<f64>> {
        let seconds = from_s..=until;
        let of = |second| {
            let of = values.partition_point(|value| value.0 < second)
                ..values.partition_point(|value| value.0 <= second);
            let sorted: Vec<f64> = values[of].iter().map(|(_, value)| *value).collect();
            quantile(&sorted, share).map(to_four_digits)
        };
        seconds.map(of).collect()
    };
    Some(Profile {
        system: system.to_owned(),
        of: of.to_owned(),
        name,
        from_s: from_s * step,
        step_s: step,
        lower: quartile(0.25),
        median: quartile(0.5),
        upper: quartile(0.75),
    })
}

#[cfg(test)]
mod tests;
