//! Metrics of the links.

use weft_experiment::StationRecord;
use weft_links::StationId;
use weft_units::{Duration, Instant};

use crate::measure::capacity::share_used;
use crate::measure::run::{Run, Value, overlap};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let end = run.record.ended_at.saturating_since(Instant::ZERO);
    let window = (run.from.min(end), end);
    let (mut carried, mut could) = (0.0, 0.0);
    let mut single = Vec::new();
    for (index, link) in run.record.links.iter().enumerate() {
        for (station, record) in link.by_station() {
            if !is_taken(run, index, station) {
                continue;
            }
            let bits = delivered(record, run.record.sample_every, window);
            let known = run.capacities.bits(index, station, window);
            let Some(possible) = known.or_else(|| by_service(record, bits)) else {
                continue;
            };
            carried += bits;
            could += possible;
            if possible > 0.0 && !run.setup.is_personal(index) {
                single.push((format!("utilisation.{}", link.name), bits / possible));
            }
        }
    }
    if could > 0.0 {
        values.push(("utilisation".to_owned(), carried / could));
    }
    if run.setup.links.len() > 1 {
        values.extend(single);
    }
}

/// Returns the bits that a station which sent these bits could have sent on a shared
/// medium in all of its available time.
fn by_service(record: &StationRecord, bits: f64) -> Option<f64> {
    let share = share_used(record.service.as_ref()?)?;
    (share > 0.0).then(|| bits / share)
}

/// Whether a flow under test sends its data from this station of the link.
pub fn is_taken(run: &Run<'_>, link: usize, station: StationId) -> bool {
    let flows = run.focus.iter().map(|&flow| &run.setup.flows[flow]);
    let sending = flows.filter(|flow| flow.traffic().has_packets());
    let routes = sending.flat_map(|flow| &flow.routes);
    let mut hops = routes.flat_map(|route| &route.hops);
    hops.any(|hop| (hop.link, hop.from) == (link, station))
}

fn delivered(record: &StationRecord, period: Duration, window: (Duration, Duration)) -> f64 {
    let samples = record.series.iter();
    samples
        .map(|s| s.delivered.0 as f64 * 8.0 * overlap(s.at, period, window))
        .sum()
}
