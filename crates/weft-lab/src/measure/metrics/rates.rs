//! Rates, and the time until they settle.

use std::collections::BTreeSet;

use weft_experiment::{FlowDetail, LegRecord, LegSample};
use weft_units::{Duration, Instant};

use crate::measure::run::{Run, Value, overlap};
use crate::statistics::{mean, quantile};

/// Maximum relative distance from the settled rate.
const TOLERANCE: f64 = 0.15;
/// Rates are means over one second, and have settled when three consecutive ones are
/// within tolerance; both chosen by us.
const STEP: Duration = Duration::from_secs(1);
const STAYS: usize = 3;
/// Interval of the thesis's measurements.
const WINDOW: Duration = Duration::from_millis(500);

/// Selects the bytes of a sample that count in a rate.
type Bytes = fn(&LegSample) -> u64;
const RATES: [(&str, Bytes); 2] = [
    ("throughput_mbps", |s| s.delivered.0),
    ("sent_mbps", |s| s.sent.0),
];

/// Selects the packets of a sample that are counted.
type Count = fn(&LegSample) -> u32;
const COUNTS: [(&str, Count); 2] = [
    ("packets_sent", |s| s.sent_packets),
    ("packets_received", |s| s.one_way_delay.count),
];

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let sends = |flow: usize| run.setup.flows[flow].traffic().has_packets();
    for (name, bytes) in RATES {
        let rate = |flow| {
            let window = run.active(flow);
            (sends(flow) && window.0 < window.1).then(|| mbps(run, flow, window, bytes))
        };
        let sum = || run.focus.iter().filter_map(|&flow| rate(flow)).sum();
        let whole = run.focus.iter().any(|&flow| sends(flow)).then(sum);
        run.for_each_flow(name, values, whole, rate);
    }

    let time = |flow| transfer(run, flow);
    run.for_each_flow(
        "transfer_s",
        values,
        mean(run.focus.iter().filter_map(|&f| time(f))),
        time,
    );

    let all = (run.from, run.end());
    let lost = |flow| loss(run, &[flow], all);
    run.for_each_flow("loss", values, loss(run, run.focus, all), lost);

    for (name, count) in COUNTS {
        let packets = |flow: usize| {
            let samples = run.legs(flow).flat_map(|leg| &leg.series);
            let counted = samples.map(|s| f64::from(count(s)) * run.measured(s.at));
            sends(flow).then(|| counted.sum::<f64>())
        };
        let all = run.focus.iter().filter_map(|&flow| packets(flow));
        let whole = run.focus.iter().any(|&flow| sends(flow)).then(|| all.sum());
        run.for_each_flow(name, values, whole, packets);
    }

    let again = |flow| retransmissions(run, flow);
    let whole = mean(run.focus.iter().filter_map(|&f| again(f)));
    run.for_each_flow("retransmissions", values, whole, again);

    values.extend(converged(run).map(|value| ("convergence_s".to_owned(), value)));

    let varies = |flow| variation(&rates(run, &[flow], run.active(flow)));
    let whole = mean(run.focus.iter().filter_map(|&f| varies(f)));
    run.for_each_flow("rate_variation", values, whole, varies);

    let deviates = |flow| deviation(run, &[flow]);
    run.for_each_flow("rate_sd_mbps", values, deviation(run, run.focus), deviates);

    let most = |flow| {
        windows(run, &[flow])
            .filter_map(|w| loss(run, &[flow], w))
            .fold(None, max)
    };
    let whole = windows(run, run.focus)
        .filter_map(|w| loss(run, run.focus, w))
        .fold(None, max);
    run.for_each_flow("loss_max", values, whole, most);

    let back = |flow| feedback(run, flow);
    let whole = mean(run.focus.iter().filter_map(|&f| back(f)));
    run.for_each_flow("feedback_overhead", values, whole, back);
}

/// Returns the rate that reached the receiver within the window, in Mbit/s.
pub fn throughput(run: &Run<'_>, flow: usize, window: (Duration, Duration)) -> f64 {
    mbps(run, flow, window, |s| s.delivered.0)
}

fn mbps(run: &Run<'_>, flow: usize, window: (Duration, Duration), bytes: Bytes) -> f64 {
    let period = run.record.sample_every;
    let samples = run.legs(flow).flat_map(|leg| &leg.series);
    let bytes: f64 = samples
        .map(|s| bytes(s) as f64 * overlap(s.at, period, window))
        .sum();
    bytes * 8.0 / 1e6 / window.1.saturating_sub(window.0).as_secs_f64()
}

fn transfer(run: &Run<'_>, flow: usize) -> Option<f64> {
    let FlowDetail::Tcp(tcp) = &run.flow(flow).detail else {
        return None;
    };
    let from = Instant::ZERO + run.from;
    let measured = tcp.transfers.iter().filter(|t| t.started_at >= from);
    let times = measured.map(|t| t.ended_at.saturating_since(t.started_at).as_secs_f64());
    mean(times)
}

fn retransmissions(run: &Run<'_>, flow: usize) -> Option<f64> {
    let FlowDetail::Tcp(tcp) = &run.flow(flow).detail else {
        return None;
    };
    let samples = tcp.series.iter();
    let again: f64 = samples
        .map(|s| f64::from(s.retransmissions) * run.measured(s.at))
        .sum();
    let samples = run.legs(flow).flat_map(|leg| &leg.series);
    let sent: f64 = samples
        .map(|s| f64::from(s.sent_packets) * run.measured(s.at))
        .sum();
    (sent > 0.0).then(|| again / sent)
}

/// Relative to the packets that ended instead of those sent: packets in flight at an edge
/// of the measured time have no outcome yet.
fn loss(run: &Run<'_>, flows: &[usize], window: (Duration, Duration)) -> Option<f64> {
    let legs = flows.iter().flat_map(|&flow| run.legs(flow));
    let (mut ended, mut lost) = (0.0, 0.0);
    for sample in legs.flat_map(|leg| &leg.series) {
        let measured = overlap(sample.at, run.record.sample_every, window);
        lost += f64::from(sample.drops) * measured;
        ended += f64::from(sample.drops + sample.one_way_delay.count) * measured;
    }
    (ended > 0.0).then(|| lost / ended)
}

/// Iterates over the consecutive half seconds in which all of the flows run.
fn windows(run: &Run<'_>, flows: &[usize]) -> impl Iterator<Item = (Duration, Duration)> + use<> {
    let begin = flows.iter().map(|&flow| run.active(flow).0).max();
    let end = flows.iter().map(|&flow| run.active(flow).1).min();
    let (begin, end) = (begin.unwrap_or_default(), end.unwrap_or_default());
    let count = end.saturating_sub(begin).as_nanos() / WINDOW.as_nanos();
    (0..count).map(move |index| (begin + WINDOW * index, begin + WINDOW * (index + 1)))
}

/// Returns the deviation for the flows that send packets together.
fn deviation(run: &Run<'_>, flows: &[usize]) -> Option<f64> {
    let sends = |flow: &usize| run.setup.flows[*flow].traffic().has_packets();
    let flows: Vec<usize> = flows.iter().copied().filter(sends).collect();
    let rate = |window| {
        flows
            .iter()
            .map(|&flow| throughput(run, flow, window))
            .sum()
    };
    let rates: Vec<f64> = windows(run, &flows).map(rate).collect();
    let middle = mean(rates.iter().copied())?;
    mean(rates.iter().map(|rate| (rate - middle).powi(2))).map(f64::sqrt)
}

fn max(most: Option<f64>, next: f64) -> Option<f64> {
    Some(most.map_or(next, |most| most.max(next)))
}

/// Only for calls with media in one direction, because the callee's feedback cannot be
/// separated from its media.
fn feedback(run: &Run<'_>, flow: usize) -> Option<f64> {
    let answers = &run.setup.flows[flow].traffic().media()?.callee;
    if !(answers.cameras.is_empty() && answers.microphones.is_empty()) {
        return None;
    }
    let bytes = |leg: &LegRecord| -> f64 {
        let samples = leg.series.iter();
        samples.map(|s| s.sent.0 as f64 * run.measured(s.at)).sum()
    };
    let routes = &run.flow(flow).routes;
    let there: f64 = routes.iter().map(|route| bytes(&route.there)).sum();
    let back: f64 = routes.iter().map(|route| bytes(&route.back)).sum();
    (there > 0.0).then(|| back / there)
}

/// Only for long-lived flows, because a flow that stops by itself does not settle.
fn converged(run: &Run<'_>) -> Option<f64> {
    let lasting = |flow: &&usize| run.setup.flows[**flow].traffic().settles();
    let flows: Vec<usize> = run.focus.iter().filter(lasting).copied().collect();
    let start = flows.iter().map(|&f| run.setup.flows[f].start).min()?;
    let end = flows.iter().map(|&f| run.active(f).1).min()?;
    let mut bounds: BTreeSet<Duration> = steps(run, &flows, end);
    bounds.retain(|at| *at > start);
    bounds.insert(start);
    let bounds: Vec<Duration> = bounds.into_iter().chain([end]).collect();
    let sections = bounds.windows(2).filter_map(|section| {
        let rates = rates(run, &flows, (section[0], section[1]));
        convergence(&rates)
    });
    mean(sections)
}

/// Returns the times of capacity changes of a link used by one of the flows; none if it
/// changes all the time, as in a trace.
fn steps(run: &Run<'_>, flows: &[usize], end: Duration) -> BTreeSet<Duration> {
    let mut found = BTreeSet::new();
    let routes = flows.iter().flat_map(|&flow| &run.setup.flows[flow].routes);
    for hop in routes.flat_map(|route| &route.hops) {
        let mut at = Instant::ZERO;
        let mut own = BTreeSet::new();
        while let Some((_, Some(next))) = run.capacities.at(hop.link, hop.from, at) {
            if next.saturating_since(Instant::ZERO) >= end {
                break;
            }
            own.insert(next.saturating_since(Instant::ZERO));
            at = next;
        }
        // A section shorter than this cannot show a settled rate.
        let shortest = STEP * (2 * STAYS as u64);
        let times: Vec<Duration> = own.iter().copied().collect();
        if times.windows(2).all(|pair| pair[1] - pair[0] >= shortest) {
            found.extend(own);
        }
    }
    found
}

/// Returns the mean rates per second of the flows together.
fn rates(run: &Run<'_>, flows: &[usize], window: (Duration, Duration)) -> Vec<f64> {
    let count = window.1.saturating_sub(window.0).as_nanos() / STEP.as_nanos();
    let second = |index: u64| {
        let begin = window.0 + STEP * index;
        flows
            .iter()
            .map(|&flow| throughput(run, flow, (begin, begin + STEP)))
            .sum()
    };
    (0..count).map(second).collect()
}

/// Returns the seconds until rates, one per second, stay within 15 % of the median of
/// their second half, or their number if they never do. `None` if there are too few.
#[must_use]
pub fn convergence(rates: &[f64]) -> Option<f64> {
    if rates.len() < 2 * STAYS {
        return None;
    }
    let mut settled = rates[rates.len() / 2..].to_vec();
    settled.sort_by(f64::total_cmp);
    let settled = quantile(&settled, 0.5)?;
    // A flow that never sends does not converge.
    if settled <= 0.0 {
        return None;
    }
    let near = |rate: &f64| (rate - settled).abs() <= TOLERANCE * settled;
    let stays = rates.windows(STAYS).position(|next| next.iter().all(near));
    Some(stays.unwrap_or(rates.len()) as f64)
}

/// Returns the mean change between consecutive rates, relative to the mean rate.
#[must_use]
pub fn variation(rates: &[f64]) -> Option<f64> {
    let mean_rate = mean(rates.iter().copied())?;
    let change = mean(rates.windows(2).map(|pair| (pair[1] - pair[0]).abs()))?;
    (mean_rate > 0.0).then(|| change / mean_rate)
}
