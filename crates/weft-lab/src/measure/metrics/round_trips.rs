//! Round trips of calls above their minimum: the delay measure of the GCC thesis.

use weft_experiment::{CallSample, FlowDetail};
use weft_units::{Duration, Instant};

use crate::measure::run::{Run, Value};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let rises = |flows: &[usize]| -> Vec<f64> {
        let mut all: Vec<f64> = flows.iter().flat_map(|&flow| rises_of(run, flow)).collect();
        all.sort_by(f64::total_cmp);
        all
    };
    type Of = fn(&[f64]) -> Option<f64>;
    let quantities: [(&str, Of); 2] = [("rtt_rise_ms_mean", mean), ("rtt_rise_ms_p95", p95)];
    let whole = rises(run.focus);
    for (name, quantity) in quantities {
        run.for_each_flow(name, values, quantity(&whole), |flow| {
            quantity(&rises(&[flow]))
        });
    }
}

/// Returns the values of each path of a call, at each sample of the measured time, in
/// milliseconds.
fn rises_of(run: &Run<'_>, flow: usize) -> Vec<f64> {
    let FlowDetail::Call(call) = &run.flow(flow).detail else {
        return Vec::new();
    };
    let series = &call.caller.series;
    let (from, until) = run.active(flow);
    let is_measured = |sample: &&CallSample| {
        let at = sample.at.saturating_since(Instant::ZERO);
        from < at && at <= until
    };
    let paths = series.iter().map(|sample| sample.paths.len()).max();
    let of_path = |path: usize| {
        let rtt = move |sample: &CallSample| {
            let rtt = sample.paths.get(path)?.rtt;
            // Not known yet.
            (rtt > Duration::ZERO).then_some(rtt)
        };
        let least = series.iter().filter_map(rtt).min().unwrap_or_default();
        let measured = series.iter().filter(is_measured).filter_map(rtt);
        measured.map(move |rtt| rtt.saturating_sub(least).as_millis_f64())
    };
    (0..paths.unwrap_or(0)).flat_map(of_path).collect()
}

fn mean(sorted: &[f64]) -> Option<f64> {
    (!sorted.is_empty()).then(|| sorted.iter().sum::<f64>() / sorted.len() as f64)
}

/// By the nearest rank.
fn p95(sorted: &[f64]) -> Option<f64> {
    let rank = (sorted.len() * 95).div_ceil(100);
    sorted.get(rank.checked_sub(1)?).copied()
}
