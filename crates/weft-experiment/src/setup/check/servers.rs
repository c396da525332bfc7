//! Checks the servers of the conference: all are connected, have people, and choose layers
//! by one set of rules.

use crate::setup::FlowSetup;

use super::SetupError;

pub(super) fn check(flows: &[FlowSetup]) -> Result<(), SetupError> {
    let homes = flows.iter();
    let homes = homes.filter_map(|flow| Some((flow, flow.traffic().server()?)));
    let homes: Vec<(&FlowSetup, &str)> = homes.collect();
    let mut joined = Vec::new();
    for flow in flows {
        let Some([first, second]) = flow.traffic().joined_servers() else {
            continue;
        };
        let mut both = [first, second].into_iter();
        if let Some(empty) = both.find(|server| homes.iter().all(|(_, home)| home != server)) {
            return Err(wrong(
                flow,
                format!(
                    "no group of the conference is at server '{empty}': write server = \"{empty}\" \
                     in a group"
                ),
            ));
        }
        if joined.contains(&[first, second]) {
            return Err(wrong(
                flow,
                format!(
                    "servers '{first}' and '{second}' are joined already: name all links in one `via`"
                ),
            ));
        }
        joined.extend([[first, second], [second, first]]);
    }
    for (place, (_, first)) in homes.iter().enumerate() {
        for (flow, second) in &homes[place + 1..] {
            let named = [homes[place].0, flow].map(|flow| flow.traffic().allocator());
            if first == second
                && let [Some(one), Some(other)] = named
                && one != other
            {
                return Err(wrong(
                    flow,
                    format!(
                        "server '{first}' has the allocators {one} and {other}: give its groups systems \
                         with one, or another server"
                    ),
                ));
            }
            if first != second && !joined.contains(&[*first, *second]) {
                return Err(wrong(
                    flow,
                    format!(
                        "servers '{first}' and '{second}' have no links between them: add a flow of kind \
                         \"interconnect\" with servers = [\"{first}\", \"{second}\"]"
                    ),
                ));
            }
        }
    }
    Ok(())
}

fn wrong(flow: &FlowSetup, what: String) -> SetupError {
    SetupError::Servers {
        flow: flow.name.clone(),
        what,
    }
}
