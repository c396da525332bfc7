//! How long packets took, from `measure-from` on.

use weft_experiment::{Distribution, LegRecord};

use super::links;
use crate::measure::run::{Run, Value};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    add(run, values, "queue_ms", |leg| &leg.queue_delay);
    add(run, values, "owd_ms", |leg| &leg.one_way_delay);
    if run.setup.links.len() == 1 {
        return;
    }
    for (index, link) in run.record.links.iter().enumerate() {
        let mut delays = Distribution::default();
        for (station, record) in link.by_station() {
            if links::is_taken(run, index, station) {
                delays.merge(&record.queue_delay);
            }
        }
        for (what, of) in QUANTITIES {
            let value = of(&delays).map(|value| (format!("queue_ms{what}.{}", link.name), value));
            values.extend(value);
        }
    }
}

type Of = fn(&Distribution) -> Option<f64>;

const QUANTITIES: [(&str, Of); 2] = [
    ("_mean", |all| {
        (all.count() > 0).then(|| all.mean().as_millis_f64())
    }),
    ("_p95", |all| {
        (all.count() > 0).then(|| all.percentile(95).as_millis_f64())
    }),
];

/// Over all packets of the flows, whatever ways they took.
fn add(run: &Run<'_>, values: &mut Vec<Value>, name: &str, of: fn(&LegRecord) -> &Distribution) {
    let all = |flows: &[usize]| {
        let mut all = Distribution::default();
        let legs = flows.iter().flat_map(|&flow| run.legs(flow));
        legs.for_each(|leg| all.merge(of(leg)));
        all
    };
    let whole = all(run.focus);
    for (what, quantity) in QUANTITIES {
        run.for_each_flow(&format!("{name}{what}"), values, quantity(&whole), |flow| {
            quantity(&all(&[flow]))
        });
    }
}
