//! A sequence of displayed pictures: their number, latency and freezes.

use std::collections::BTreeMap;

use weft_experiment::ShownPicture;
use weft_units::{Duration, Freezes, Instant};

use super::{Freeze, View};
use crate::statistics::mean;

/// Longest time to the first picture or sound of a call that does not count as a freeze
/// or gap; chosen by us: call setup takes three round trips at most.
pub const SETUP: Duration = Duration::from_secs(1);

/// Returns the view of the pictures captured within the window.
pub fn view(pictures: &[ShownPicture], (from, end): (Instant, Instant)) -> View {
    let within = |p: &&ShownPicture| p.captured_at >= from && p.captured_at < end;
    let seen = || pictures.iter().filter(within);
    let mut at: Vec<Instant> = seen().map(|p| p.shown_at).collect();
    at.sort();
    let seconds = end.saturating_since(from).as_secs_f64();
    let freezes = match at.is_empty() {
        // A call without any picture is one freeze, as long as the call: otherwise a dead
        // link would have the best result.
        true => vec![Freeze::one(from, end)],
        false => freezes(pictures, from, end),
    };
    View {
        seconds,
        shown: Some(at.len() as f64),
        seen: Some(refreshes(&at) as f64),
        freezes: Some(freezes),
        latency: seen().map(|p| p.latency().as_millis_f64()).collect(),
        latency_by_second: by_second(seen(), from),
        intervals: intervals(&at).collect(),
        ..View::default()
    }
}

/// Returns the freezes. Pictures shown before the window set the threshold, and a freeze
/// that began with one of them counts with its part inside.
pub(super) fn freezes(pictures: &[ShownPicture], from: Instant, end: Instant) -> Vec<Freeze> {
    if pictures.is_empty() {
        // Nothing is not less than one late picture.
        let is_long = end.saturating_since(from) > SETUP;
        return Vec::from_iter(is_long.then(|| Freeze::one(from, end)));
    }
    let taken = pictures.iter().filter(|p| p.captured_at < end);
    let mut pictures: Vec<Instant> = taken.map(|p| p.shown_at).collect();
    pictures.sort();
    let mut found = Vec::new();
    if let Some(first) = pictures.first() {
        let first = *first.min(&end);
        if first.saturating_since(from) > SETUP {
            found.push(Freeze::one(from, first));
        }
    }
    // A picture that is not replaced until the end is a freeze like any other.
    let stands = pictures.last().is_some_and(|last| *last < end);
    let mut freezes = Freezes::default();
    let mut last = from;
    for at in pictures.into_iter().chain(stands.then_some(end)) {
        let before = freezes.count();
        freezes.on_picture(at);
        let freeze = Freeze::one(last.max(from), at.min(end));
        if freezes.count() > before && freeze.end > freeze.begin {
            found.push(freeze);
        }
        last = at;
    }
    found
}

/// Returns how many refreshes of a display of 60 Hz show a new picture. Pictures that a
/// stall held back appear all at once, and the viewer sees the last of them.
fn refreshes(at: &[Instant]) -> usize {
    const HZ: u128 = 60;
    let refresh = |at: &Instant| u128::from(at.as_nanos()) * HZ / 1_000_000_000;
    let mut refreshes: Vec<u128> = at.iter().map(refresh).collect();
    refreshes.dedup();
    refreshes.len()
}

/// Returns the mean latency of the pictures captured within each second.
fn by_second<'a>(pictures: impl Iterator<Item = &'a ShownPicture>, from: Instant) -> Vec<f64> {
    let mut seconds: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for picture in pictures {
        let second = picture.captured_at.saturating_since(from).as_nanos() / 1_000_000_000;
        let latencies = seconds.entry(second).or_default();
        latencies.push(picture.latency().as_millis_f64());
    }
    let means = seconds
        .into_values()
        .filter_map(|all| mean(all.into_iter()));
    means.collect()
}

fn intervals(at: &[Instant]) -> impl Iterator<Item = f64> {
    at.windows(2)
        .map(|pair| pair[1].saturating_since(pair[0]).as_millis_f64())
}
