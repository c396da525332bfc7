//! Cost and benefit of forward error correction.

use weft_experiment::StreamRecord;

use crate::measure::run::{Run, Value};
use crate::measure::view::streams;

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let metrics: [(&str, Share); 2] =
        [("fec_overhead", overhead), ("fec_utilisation", utilisation)];
    for (name, share) in metrics {
        let of = |flows: &[usize]| {
            let streams = flows.iter().flat_map(|&flow| streams(run, flow));
            share(&streams.collect::<Vec<_>>())
        };
        run.for_each_flow(name, values, of(run.focus), |flow| of(&[flow]));
    }
}

type Share = fn(&[&StreamRecord]) -> Option<f64>;

fn overhead(streams: &[&StreamRecord]) -> Option<f64> {
    part(streams, |s| s.repair_packets, |s| s.media_packets)
}

fn utilisation(streams: &[&StreamRecord]) -> Option<f64> {
    part(
        streams,
        |s| s.receiver.protection.used,
        |s| s.receiver.protection.received,
    )
}

type Count = fn(&StreamRecord) -> u64;

fn part(streams: &[&StreamRecord], of: Count, all: Count) -> Option<f64> {
    let sum = |count: Count| streams.iter().map(|s| count(s)).sum::<u64>() as f64;
    (sum(all) > 0.0).then(|| sum(of) / sum(all))
}
