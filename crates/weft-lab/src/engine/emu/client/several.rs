use std::fmt;

use weft_experiment::Setup;

/// A client for all calls but those of some flows, which have others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Several<C> {
    /// The run is called after it.
    pub(super) main: C,
    /// By name of the flow.
    pub(super) others: Vec<(String, C)>,
}

impl<C> Several<C> {
    /// That of this flow.
    pub fn of_flow(&self, name: &str) -> &C {
        let mut others = self.others.iter();
        let found = others.find(|(flow, _)| flow == name);
        found.map_or(&self.main, |(_, client)| client)
    }

    /// Each of them.
    pub fn all(&self) -> impl Iterator<Item = &C> {
        let others = self.others.iter().map(|(_, client)| client);
        [&self.main].into_iter().chain(others)
    }

    /// A flow that is named and is no call of the set-up, and the calls that it has.
    pub fn stranger(&self, setup: &Setup) -> Option<(&str, Vec<String>)> {
        let calls = setup.flows.iter();
        let calls = calls.filter(|flow| flow.traffic().media().is_some());
        let calls: Vec<String> = calls.map(|flow| flow.name.clone()).collect();
        let mut named = self.others.iter().map(|(flow, _)| flow);
        let stranger = named.find(|flow| !calls.contains(flow))?;
        Some((stranger, calls))
    }
}

impl<C: fmt::Display> fmt::Display for Several<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.main)?;
        let mut others = self.others.iter();
        others.try_for_each(|(flow, client)| write!(f, ",{flow}={client}"))
    }
}
