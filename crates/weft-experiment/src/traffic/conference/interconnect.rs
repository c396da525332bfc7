//! Links between two servers of a conference.

use std::ops::RangeInclusive;

use crate::traffic::Traffic;

/// Links between two servers of the run's conference, one for each route. The routes lead
/// from the first to the second. A server fetches what is published at the other one over
/// all of them, as servers of a cluster do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InterconnectSetup {
    /// Names of the servers, as in [`ConferenceSetup::server`](super::ConferenceSetup).
    pub servers: [String; 2],
}

/// Most links between two servers; path identifiers end soon after.
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
