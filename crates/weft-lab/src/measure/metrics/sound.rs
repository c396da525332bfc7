//! What the people in a call hear.

use weft_experiment::{FlowDetail, StreamRecord};
use weft_units::Instant;

use crate::measure::run::{Run, Value};
use crate::measure::view::TAIL;
use crate::statistics::mean;

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let metrics: [(&str, Of); 2] = [
        ("sound_loss", |heard| {
            (heard.packets > 0).then(|| 1.0 - heard.latency.len() as f64 / heard.packets as f64)
        }),
        ("sound_ms_mean", |heard| mean(heard.latency.iter().copied())),
    ];
    for (name, of) in metrics {
        let over = |flows: &[usize]| {
            let heard = flows.iter().flat_map(|&flow| microphones(run, flow));
            mean(heard.filter_map(|heard| of(&heard)))
        };
        run.for_each_flow(name, values, over(run.focus), |flow| over(&[flow]));
    }
}

type Of = fn(&Heard) -> Option<f64>;

/// A microphone's packets from one end to the other.
struct Heard {
    packets: usize,
    /// From recording to release, milliseconds, of those that were.
    latency: Vec<f64>,
}

/// Every microphone of a caller.
fn microphones(run: &Run<'_>, flow: usize) -> Vec<Heard> {
    let (Some(setup), FlowDetail::Call(record)) = (
        run.setup.flows[flow].traffic().media(),
        &run.record.flows[flow].detail,
    ) else {
        return Vec::new();
    };
    // Cameras come before microphones.
    let cameras = setup.caller.cameras.len();
    let streams = record.caller.streams.iter().skip(cameras);
    streams.map(|stream| heard(run, flow, stream)).collect()
}

fn heard(run: &Run<'_>, flow: usize, stream: &StreamRecord) -> Heard {
    let (from, end) = run.active(flow);
    let (from, end) = (Instant::ZERO + from, Instant::ZERO + end);
    // The last ones may still be on their way.
    let measured = |at: Instant| at >= from && at + TAIL < end;
    let packets = stream.frames.iter().filter(|f| measured(f.captured_at));
    let latency = packets.clone().filter_map(|frame| {
        let played = frame.shown?.at;
        Some(played.saturating_since(frame.captured_at).as_millis_f64())
    });
    Heard {
        packets: packets.clone().count(),
        latency: latency.collect(),
    }
}
