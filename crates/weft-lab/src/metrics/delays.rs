//! How long packets took.

use weft_sim::{Distribution, LegRecord};

use super::{Run, Value};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let queue = |leg: &LegRecord| leg.queue_delay;
    let way = |leg: &LegRecord| leg.one_way_delay;
    add(run, values, "queue_ms", queue);
    add(run, values, "owd_ms", way);
    if run.setup.links.len() == 1 {
        return;
    }
    for link in &run.record.links {
        let delay = link.forward.queue_delay;
        if delay.count > 0 {
            values.push((
                format!("queue_ms_mean.{}", link.name),
                delay.mean.as_millis_f64(),
            ));
            values.push((
                format!("queue_ms_p95.{}", link.name),
                delay.p95.as_millis_f64(),
            ));
        }
    }
}

fn add(run: &Run<'_>, values: &mut Vec<Value>, name: &str, of: fn(&LegRecord) -> Distribution) {
    let all = |flows: &[usize]| -> Vec<Distribution> {
        let legs = flows.iter().flat_map(|&flow| run.legs(flow));
        legs.map(of).filter(|d| d.count > 0).collect()
    };
    let one = |flow: usize| all(&[flow]);
    let means = |delays: &[Distribution]| {
        let count: u64 = delays.iter().map(|d| d.count).sum();
        let sum: f64 = delays
            .iter()
            .map(|d| d.mean.as_millis_f64() * d.count as f64)
            .sum();
        (count > 0).then(|| sum / count as f64)
    };
    let whole = means(&all(run.focus));
    run.for_each_flow(&format!("{name}_mean"), values, whole, |flow| {
        means(&one(flow))
    });
    let p95 = |delays: &[Distribution]| together(delays, 0.95);
    let whole = p95(&all(run.focus));
    run.for_each_flow(&format!("{name}_p95"), values, whole, |flow| {
        p95(&one(flow))
    });
}

/// A quantile of several distributions together, in milliseconds: where their
/// counts below it add up to the share, each being linear between the points
/// that are known of it. Exact for a single one at a known point.
fn together(delays: &[Distribution], share: f64) -> Option<f64> {
    if let [only] = delays
        && share == 0.95
    {
        return Some(only.p95.as_millis_f64());
    }
    let total: f64 = delays.iter().map(|d| d.count as f64).sum();
    let highest = delays
        .iter()
        .map(|d| d.max.as_millis_f64())
        .fold(0.0, f64::max);
    let (mut low, mut high) = (0.0, highest);
    if delays.is_empty() {
        return None;
    }
    // Halving 40 times reaches a millionth of a millisecond.
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        let below: f64 = delays
            .iter()
            .map(|d| d.count as f64 * below(d, middle))
            .sum();
        if below < share * total {
            low = middle
        } else {
            high = middle
        }
    }
    Some(high)
}

/// The share of a distribution that is at most this many milliseconds.
fn below(delays: &Distribution, ms: f64) -> f64 {
    let points = [
        (0.0, 0.0),
        (delays.p5.as_millis_f64(), 0.05),
        (delays.p50.as_millis_f64(), 0.50),
        (delays.p95.as_millis_f64(), 0.95),
        (delays.p99.as_millis_f64(), 0.99),
        (delays.max.as_millis_f64(), 1.0),
    ];
    if ms >= points[5].0 {
        return 1.0;
    }
    let above = points
        .iter()
        .position(|(at, _)| *at > ms)
        .unwrap_or(5)
        .max(1);
    let (from, to) = (points[above - 1], points[above]);
    from.1 + (to.1 - from.1) * (ms - from.0) / (to.0 - from.0)
}
