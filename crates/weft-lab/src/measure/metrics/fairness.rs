//! Fairness between flows.

use weft_units::Duration;

use super::table::EQUALITY;

use super::rates;
use crate::measure::run::{Run, Value};
use crate::statistics::mean;

/// Time spans over which rates are compared.
const SPANS: [(&str, Duration); 3] = [
    ("fair_1s", Duration::from_secs(1)),
    ("fair_5s", Duration::from_secs(5)),
    ("fair_20s", Duration::from_secs(20)),
];

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let traffic = |flow: &usize| run.setup.flows[*flow].traffic();
    let flows = 0..run.setup.flows.len();
    let flows: Vec<usize> = flows.filter(|flow| traffic(flow).has_packets()).collect();
    let each = || flows.iter().copied();
    let end = each().map(|flow| run.active(flow));
    // Sharing is evaluated while all of them run.
    let start = end.clone().map(|t| t.0).max().unwrap_or_default();
    let stop = end.map(|t| t.1).min().unwrap_or_default();
    if flows.len() < 2 || start >= stop {
        return;
    }
    let rate = |flow: usize| rates::throughput(run, flow, (start, stop));
    let all: Vec<f64> = each().map(rate).collect();
    values.extend(jain(&all).map(|value| ("jain_index".to_owned(), value)));
    for (name, span) in SPANS {
        let count = stop.saturating_sub(start).as_nanos() / span.as_nanos();
        let begins = (0..count).map(|index| start + span * index);
        let rates = begins.map(|begin| {
            let within = (begin, begin + span);
            each()
                .map(|flow| rates::throughput(run, flow, within))
                .collect()
        });
        let value = fair_share(&rates.collect::<Vec<_>>());
        values.extend(value.map(|value| (name.to_owned(), value)));
    }
    let is_tcp = |flow: &usize| traffic(flow).has_transfers();
    let is_call = |flow: &usize| traffic(flow).is_call();
    let calls: f64 = each().filter(is_call).map(rate).sum();
    let tcp: f64 = each().filter(is_tcp).map(rate).sum();
    if flows.iter().any(is_call) && flows.iter().any(is_tcp) {
        let value = flow_rate_equality(calls, tcp);
        values.extend(value.map(|value| (EQUALITY.to_owned(), value)));
    }
}

/// Measures pairs of flows, such as `first/second`: the first one against the second
/// while both run.
pub fn measure_pairs(run: &Run<'_>, pairs: &[&str], values: &mut Vec<Value>) {
    let flow = |name: &str| run.setup.flows.iter().position(|flow| flow.name == name);
    for pair in pairs {
        let Some((first, second)) = pair.split_once('/') else {
            continue;
        };
        let (Some(first), Some(second)) = (flow(first), flow(second)) else {
            continue;
        };
        let (a, b) = (run.active(first), run.active(second));
        let both = (a.0.max(b.0), a.1.min(b.1));
        if both.0 < both.1 {
            let rate = |flow| rates::throughput(run, flow, both);
            let value = flow_rate_equality(rate(first), rate(second));
            values.extend(value.map(|value| (format!("{EQUALITY}.{pair}"), value)));
        }
    }
}

/// Returns Jain's index of these rates; `None` if all are zero.
#[must_use]
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Returns the share of the spans in which no flow has more than three times the rate of
/// another. Each span has the rates of all flows. Ignores spans without traffic; `None`
/// if none remains.
#[must_use]
pub fn fair_share(spans: &[Vec<f64>]) -> Option<f64> {
    const MOST: f64 = 3.0;
    let largest = |rates: &[f64]| rates.iter().copied().fold(0.0, f64::max);
    let smallest = |rates: &[f64]| rates.iter().copied().fold(f64::INFINITY, f64::min);
    let fair = spans
        .iter()
        .filter(|rates| largest(rates) > 0.0)
        .map(|rates| f64::from(u8::from(largest(rates) <= MOST * smallest(rates))));
    mean(fair)
}

/// Returns the equality of flow rates of Sander et al. for the call's and TCP's bytes or
/// rates; `None` if both are zero.
#[must_use]
pub fn flow_rate_equality(call: f64, tcp: f64) -> Option<f64> {
    if call <= 0.0 && tcp <= 0.0 {
        return None;
    }
    Some(if call >= tcp {
        1.0 - tcp / call
    } else {
        call / tcp - 1.0
    })
}
