//! What of the rate was of use.

use weft_experiment::FlowDetail;
use weft_units::Instant;

use super::video::streams;
use crate::measure::run::{Run, Value, overlap};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let good = |flow| goodput(run, flow);
    let sum = run
        .focus
        .iter()
        .filter_map(|&flow| good(flow))
        .reduce(|a, b| a + b);
    run.for_each_flow("goodput_mbps", values, sum, good);
}

fn goodput(run: &Run<'_>, flow: usize) -> Option<f64> {
    let window = run.active(flow);
    let period = run.record.sample_every;
    let bytes: f64 = match &run.flow(flow).detail {
        FlowDetail::Tcp(tcp) => {
            let samples = tcp.series.iter();
            samples
                .map(|s| s.delivered.0 as f64 * overlap(s.at, period, window))
                .sum()
        }
        FlowDetail::Call(_) => bytes_shown(run, flow),
        FlowDetail::Udp => return None,
    };
    // Of nothing the sum is -0.
    Some((bytes + 0.0) * 8.0 / 1e6 / window.1.saturating_sub(window.0).as_secs_f64())
}

/// Encoded bytes of the frames that a caller has sent and a callee has shown.
fn bytes_shown(run: &Run<'_>, flow: usize) -> f64 {
    let (from, end) = run.active(flow);
    let within = |at: Instant| at >= Instant::ZERO + from && at < Instant::ZERO + end;
    let streams = streams(run, flow).into_iter();
    let frames = streams.flat_map(|stream| &stream.frames);
    let shown = frames.filter(|frame| frame.shown.is_some_and(|shown| within(shown.at)));
    shown.map(|frame| frame.size.0 as f64).sum()
}
