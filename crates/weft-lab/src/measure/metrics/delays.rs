//! Delays of packets, from `measure-from` on.

use weft_experiment::{Distribution, LegRecord};

use super::links;
use crate::measure::run::{Run, Value};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    add(run, values, "queue_ms", |leg| &leg.queue_delay);
    add(run, values, "owd_ms", |leg| &leg.one_way_delay);
    run.for_each_flow("queue_share", values, share(run, run.focus), |flow| {
        share(run, &[flow])
    });
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

/// Returns the time that the flows' packets waited, relative to the time with full
/// queues.
fn share(run: &Run<'_>, flows: &[usize]) -> Option<f64> {
    let (mut waited, mut longest) = (0.0, 0.0);
    for &flow in flows {
        let routes = &run.setup.flows[flow].routes;
        for (route, leg) in routes.iter().zip(run.legs(flow)) {
            let packets = leg.queue_delay.count() as f64;
            waited += packets * leg.queue_delay.mean().as_secs_f64();
            for hop in &route.hops {
                let spec = run.setup.links[hop.link].medium.link(hop.from)?;
                longest += packets * spec.longest_wait()?.as_secs_f64();
            }
        }
    }
    (longest > 0.0).then(|| waited / longest)
}

/// Adds the metrics over all packets of the flows, on all routes.
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
