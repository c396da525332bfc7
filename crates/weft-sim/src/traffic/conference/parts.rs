//! Flows of the setup that make up the conference, for its construction.

use weft_experiment::{ConferenceSetup, FlowSetup, InterconnectSetup};
use weft_units::Rng;

use super::super::flow::Legs;

/// A group of people.
pub(crate) struct Group<'a> {
    pub setup: &'a ConferenceSetup,
    pub flow: &'a FlowSetup,
    pub legs: Vec<Legs>,
    pub rng: Rng,
}

/// Links between two servers.
pub(crate) struct Interconnect<'a> {
    pub setup: &'a InterconnectSetup,
    pub legs: Vec<Legs>,
}
