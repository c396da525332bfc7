//! Links between two servers of a conference.

use std::ops::RangeInclusive;

use crate::traffic::Traffic;

/// Links between two servers of the run's conference, one for each route. The routes lead
/// from the first to the second. A server fetches publications of the other one over all
/// of them, like servers of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterconnectSetup {
    /// Names of the servers, as in [`ConferenceSetup::server`](super::ConferenceSetup).
    pub servers: [String; 2],
}

/// Maximum number of links between two servers; path identifiers end soon after.
const MOST_ROUTES: usize = 15;

impl Traffic for InterconnectSetup {
    fn wrong(&self) -> Option<&'static str> {
        let [first, second] = &self.servers;
        (first == second).then_some("an interconnect joins two servers: name two different ones")
    }

    fn routes(&self) -> (RangeInclusive<usize>, &'static str) {
        (1..=MOST_ROUTES, "1 to 15, the links between the servers")
    }

    fn joined_servers(&self) -> Option<[&str; 2]> {
        Some(self.servers.each_ref().map(String::as_str))
    }

    fn words(&self) -> String {
        let [first, second] = &self.servers;
        format!("the links between servers {first} and {second}")
    }
}
