//! Sequence of displayed pictures: their number, latency and freezes.

use std::collections::BTreeMap;

use weft_experiment::ShownPicture;
use weft_units::{Duration, Freezes, Instant};

use super::{Freeze, View};
use crate::statistics::mean;

/// Maximum time until the first picture or sound of a call that does not count as a
/// freeze or gap; chosen by us: call setup takes at most three round trips.
pub const SETUP: Duration = Duration::from_secs(1);

/// Returns the view of the pictures captured within the window. Iterates over the
/// pictures several times, because a list of a long call's pictures would take more
/// memory than its record.
pub fn view(
    pictures: impl Iterator<Item = ShownPicture> + Clone,
    (from, end): (Instant, Instant),
) -> View {
    let within = |p: &ShownPicture| p.captured_at >= from && p.captured_at < end;
    let seen = pictures.clone().filter(within);
    let seconds = end.saturating_since(from).as_secs_f64();
    let mut at = Vec::with_capacity(seen.clone().count());
    at.extend(seen.clone().map(|p| p.shown_at));
    at.sort();
    let count = at.len();
    let of_display = View {
        seconds,
        shown: Some(count as f64),
        seen: Some(refreshes(&at) as f64),
        interval: mean(intervals(&at)),
        ..View::default()
    };
    drop(at);
    let freezes = match count {
        // A call without any picture is one freeze of the whole call; otherwise a dead
        // link would have the best result.
        0 => vec![Freeze::one(from, end)],
        _ => freezes(pictures, from, end),
    };
    let mut latency = Vec::with_capacity(count);
    latency.extend(seen.clone().map(|p| p.latency().as_millis_f64()));
    View {
        freezes: Some(freezes),
        latency,
        latency_by_second: by_second(seen, from),
        ..of_display
    }
}

/// Returns the freezes. Pictures shown before the window set the threshold, and a freeze
/// that started with one of them counts with its part inside the window.
pub(super) fn freezes(
    pictures: impl Iterator<Item = ShownPicture>,
    from: Instant,
    end: Instant,
) -> Vec<Freeze> {
    let mut pictures = pictures.peekable();
    if pictures.peek().is_none() {
        // No picture is not better than one late picture.
        let is_long = end.saturating_since(from) > SETUP;
        return Vec::from_iter(is_long.then(|| Freeze::one(from, end)));
    }
    let taken = pictures.filter(|p| p.captured_at < end);
    let mut pictures: Vec<Instant> = taken.map(|p| p.shown_at).collect();
    pictures.sort();
    let mut found = Vec::new();
    if let Some(first) = pictures.first() {
        let first = *first.min(&end);
        if first.saturating_since(from) > SETUP {
            found.push(Freeze::one(from, first));
        }
    }
    // A last picture that is never replaced is a freeze like any other.
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

/// Returns the number of refreshes of a 60 Hz display that show a new picture. Pictures
/// held back by a stall appear all at once, and the viewer sees the last of them.
fn refreshes(at: &[Instant]) -> usize {
    const HZ: u128 = 60;
    let refresh = |at: &Instant| u128::from(at.as_nanos()) * HZ / 1_000_000_000;
    let same = |pair: &&[Instant]| refresh(&pair[0]) == refresh(&pair[1]);
    at.len() - at.windows(2).filter(same).count()
}

/// Returns the mean latency of the pictures captured within each second.
fn by_second(pictures: impl Iterator<Item = ShownPicture>, from: Instant) -> Vec<f64> {
    // Sum and number of the latencies in each second.
    let mut seconds: BTreeMap<u64, (f64, u32)> = BTreeMap::new();
    for picture in pictures {
        let second = picture.captured_at.saturating_since(from).as_nanos() / 1_000_000_000;
        let (sum, count) = seconds.entry(second).or_default();
        *sum += picture.latency().as_millis_f64();
        *count += 1;
    }
    let means = seconds.into_values();
    means.map(|(sum, count)| sum / f64::from(count)).collect()
}

fn intervals(at: &[Instant]) -> impl Iterator<Item = f64> {
    at.windows(2)
        .map(|pair| pair[1].saturating_since(pair[0]).as_millis_f64())
}
