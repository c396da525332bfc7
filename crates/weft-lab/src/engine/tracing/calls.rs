//! Calls of a setup, and their ends.

use weft_experiment::{FlowKind, Route, Setup};

/// End of a call, as named in traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CallEnd {
    Caller,
    Callee,
}

impl CallEnd {
    pub const BOTH: [CallEnd; 2] = [CallEnd::Caller, CallEnd::Callee];

    pub fn name(self) -> &'static str {
        match self {
            CallEnd::Caller => "caller",
            CallEnd::Callee => "callee",
        }
    }
}

/// Iterates over the positions of the calls.
pub fn calls(setup: &Setup) -> impl Iterator<Item = usize> {
    let flows = setup.flows.iter().enumerate();
    flows.filter_map(|(index, flow)| matches!(flow.kind, FlowKind::Call(_)).then_some(index))
}

/// Returns the names of a route's links.
pub fn links(setup: &Setup, route: &Route) -> String {
    let links = route.hops.iter().map(|hop| setup.link_name(hop));
    links.collect::<Vec<_>>().join("+")
}
