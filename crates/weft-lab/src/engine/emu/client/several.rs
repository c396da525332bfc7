use std::fmt;

use weft_experiment::{FlowSetup, Setup};

/// Client for all calls, with exceptions for some flows: other clients for calls, or
/// other programs for other flows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Several<C> {
    /// Main client, which names the run.
    pub(super) main: C,
    /// Exceptions, by name of the flow.
    pub(super) others: Vec<(String, C)>,
}

impl<C> Several<C> {
    /// Returns the client given for this flow.
    pub fn named_for(&self, name: &str) -> Option<&C> {
        let mut others = self.others.iter();
        let found = others.find(|(flow, _)| flow == name);
        found.map(|(_, client)| client)
    }

    /// Returns the client of this flow, if it is a call.
    pub fn of_flow(&self, name: &str) -> &C {
        self.named_for(name).unwrap_or(&self.main)
    }

    /// Iterates over all clients.
    pub fn all(&self) -> impl Iterator<Item = &C> {
        let others = self.others.iter().map(|(_, client)| client);
        [&self.main].into_iter().chain(others)
    }

    /// Returns the first client given for a missing flow, or for a flow that it cannot
    /// make according to `misfit`.
    pub fn misfit<'a>(
        &'a self,
        setup: &Setup,
        misfit: impl Fn(&C, &FlowSetup) -> Option<String>,
    ) -> Option<(&'a str, &'a C, String)> {
        self.others.iter().find_map(|(name, client)| {
            let flow = setup.flows.iter().find(|flow| flow.name == *name);
            let why = match flow {
                Some(flow) => misfit(client, flow)?,
                None => {
                    let names = setup.flows.iter().map(|flow| flow.name.as_str());
                    let names = names.collect::<Vec<_>>().join(", ");
                    format!("does not exist: the flows are {names}")
                }
            };
            Some((name.as_str(), client, why))
        })
    }
}

impl<C: fmt::Display> fmt::Display for Several<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.main)?;
        let mut others = self.others.iter();
        others.try_for_each(|(flow, client)| write!(f, ",{flow}={client}"))
    }
}
