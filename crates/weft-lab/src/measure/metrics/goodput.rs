//! Useful part of the rate.

use weft_experiment::FlowDetail;

use crate::measure::run::{Run, Value, overlap};
use crate::measure::view::{Useful, views};

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
    let useful = match &run.flow(flow).detail {
        FlowDetail::Tcp(tcp) => {
            let window = run.active(flow);
            let samples = tcp.series.iter();
            let bytes = samples
                .map(|s| s.delivered.0 as f64 * overlap(s.at, run.record.sample_every, window))
                .sum();
            Some(Useful {
                bytes,
                seconds: window.1.saturating_sub(window.0).as_secs_f64(),
            })
        }
        _ => together(run, flow),
    }?;
    // An empty sum is -0.
    Some((useful.bytes + 0.0) * 8.0 / 1e6 / useful.seconds)
}

/// Sums all cameras over the time of the first one.
fn together(run: &Run<'_>, flow: usize) -> Option<Useful> {
    let all = views(run, &[flow]);
    let all: Vec<Useful> = all.iter().filter_map(|view| view.useful).collect();
    let seconds = all.first()?.seconds;
    let bytes = all.iter().map(|u| u.bytes * (seconds / u.seconds)).sum();
    Some(Useful { bytes, seconds })
}
