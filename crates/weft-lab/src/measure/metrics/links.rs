//! What became of the links.

use weft_experiment::{Direction, DirectionRecord};
use weft_units::{Duration, Instant};

use crate::measure::run::{Run, Value, overlap};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let end = run.record.ended_at.saturating_since(Instant::ZERO);
    let window = (run.from.min(end), end);
    let (mut carried, mut could) = (0.0, 0.0);
    let mut single = Vec::new();
    for (index, link) in run.setup.links.iter().enumerate() {
        let record = &run.record.links[index];
        for (direction, record) in [
            (Direction::Forward, &record.forward),
            (Direction::Backward, &record.backward),
        ] {
            if !is_taken(run, index, direction) {
                continue;
            }
            let bits = delivered(record, run.record.sample_every, window);
            let possible = run.capacities.bits(index, direction, window);
            carried += bits;
            could += possible;
            if possible > 0.0 {
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

/// Whether a flow under test sends its data over this direction.
pub fn is_taken(run: &Run<'_>, link: usize, direction: Direction) -> bool {
    let routes = run
        .focus
        .iter()
        .flat_map(|&flow| &run.setup.flows[flow].routes);
    let mut hops = routes.flat_map(|route| &route.hops);
    hops.any(|hop| (hop.link, hop.direction) == (link, direction))
}

fn delivered(record: &DirectionRecord, period: Duration, window: (Duration, Duration)) -> f64 {
    let samples = record.series.iter();
    samples
        .map(|s| s.delivered.0 as f64 * 8.0 * overlap(s.at, period, window))
        .sum()
}
