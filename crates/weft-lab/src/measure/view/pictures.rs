//! What people see of a row of pictures: how many, how late, and for how long
//! they stood.

use weft_experiment::ShownPicture;
use weft_units::{Duration, Freezes, Instant};

use super::{Frozen, View};

/// A call that begins may take so long to the first picture and is not frozen,
/// nor silent; chosen by us: its set-up takes three round trips at most.
pub const SETUP: Duration = Duration::from_secs(1);

/// Of the pictures that were taken within the window.
pub fn view(pictures: &[ShownPicture], (from, end): (Instant, Instant)) -> View {
    let within = |p: &&ShownPicture| p.captured_at >= from && p.captured_at < end;
    let seen = || pictures.iter().filter(within);
    let mut at: Vec<Instant> = seen().map(|p| p.shown_at).collect();
    at.sort();
    let seconds = end.saturating_since(from).as_secs_f64();
    let standing = freezes(pictures, from, end);
    let (seconds_frozen, count) = match at.is_empty() {
        // Who sees no picture at all sees one freeze, as long as the call:
        // without it a dead link would be best.
        true => (seconds, 1.0),
        false => (standing.time.as_secs_f64(), f64::from(standing.count)),
    };
    View {
        seconds,
        shown: Some(at.len() as f64),
        frozen: Some(Frozen {
            count,
            seconds: seconds_frozen,
        }),
        latency: seen().map(|p| p.latency().as_millis_f64()).collect(),
        intervals: intervals(&at).collect(),
        ..View::default()
    }
}

/// What of the window a display stood still for too long.
#[derive(Default)]
struct Standing {
    time: Duration,
    count: u32,
}

impl Standing {
    fn add(&mut self, time: Duration) {
        self.time += time;
        self.count += 1;
    }
}

/// Pictures shown before the window say how long is too long, and a freeze
/// that began with one of them counts with its part inside.
fn freezes(pictures: &[ShownPicture], from: Instant, end: Instant) -> Standing {
    let taken = pictures.iter().filter(|p| p.captured_at < end);
    let mut pictures: Vec<Instant> = taken.map(|p| p.shown_at).collect();
    pictures.sort();
    let mut found = Standing::default();
    if let Some(first) = pictures.first() {
        let wait = first.min(&end).saturating_since(from);
        if wait > SETUP {
            found.add(wait);
        }
    }
    // A picture that stands until the end is a freeze like any other.
    let stands = pictures.last().is_some_and(|last| *last < end);
    let mut freezes = Freezes::default();
    let mut last = from;
    for at in pictures.into_iter().chain(stands.then_some(end)) {
        let before = freezes.count();
        freezes.on_picture(at);
        let time = at.min(end).saturating_since(last.max(from));
        if freezes.count() > before && time > Duration::ZERO {
            found.add(time);
        }
        last = at;
    }
    found
}

fn intervals(at: &[Instant]) -> impl Iterator<Item = f64> {
    at.windows(2)
        .map(|pair| pair[1].saturating_since(pair[0]).as_millis_f64())
}
