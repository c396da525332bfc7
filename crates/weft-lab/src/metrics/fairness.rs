//! How flows share.

use weft_sim::FlowKind;

use super::{Run, Value, rates};

pub fn measure(run: &Run<'_>, values: &mut Vec<Value>) {
    let flows = run.setup.flows.len();
    let end = (0..flows).map(|flow| run.active(flow));
    // Sharing is judged while all of them run.
    let start = end.clone().map(|t| t.0).max().unwrap_or_default();
    let stop = end.map(|t| t.1).min().unwrap_or_default();
    if flows < 2 || start >= stop {
        return;
    }
    let rate = |flow: usize| rates::throughput(run, flow, (start, stop));
    let all: Vec<f64> = (0..flows).map(rate).collect();
    values.extend(jain(&all).map(|value| ("jain_index".to_owned(), value)));
    let is_tcp = |flow: &usize| matches!(run.setup.flows[*flow].kind, FlowKind::Tcp(_));
    let is_call = |flow: &usize| is_call(&run.setup.flows[*flow].kind);
    let calls: f64 = (0..flows).filter(is_call).map(rate).sum();
    let tcp: f64 = (0..flows).filter(is_tcp).map(rate).sum();
    if (0..flows).any(|flow| is_call(&flow)) && (0..flows).any(|flow| is_tcp(&flow)) {
        let value = flow_rate_equality(calls, tcp);
        values.extend(value.map(|value| ("flow_rate_equality".to_owned(), value)));
    }
}

fn is_call(kind: &FlowKind) -> bool {
    matches!(kind, FlowKind::Call(_))
}

/// Jain's index of these rates; `None` when nothing flows.
#[must_use]
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (rates.len() as f64 * squares))
}

/// Equality of flow rates of seed 001 for the call's and TCP's bytes or
/// rates; `None` when nothing flows.
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

/// Harm of seed 000 to a flow whose rate alone was `demand`; negative when it
/// got more than alone, `None` without a demand.
#[must_use]
pub fn harm(demand: f64, rate: f64) -> Option<f64> {
    (demand > 0.0).then(|| (demand - rate) / demand)
}
