//! Pictures of an oracle. It has no other data, because nothing was encoded or sent.

use weft_experiment::FlowDetail;
use weft_units::Instant;

use super::{View, pictures};
use crate::measure::run::Run;

/// Returns the view of a flow that is the floor of a call.
pub fn view(run: &Run<'_>, flow: usize) -> Option<View> {
    let FlowDetail::Floor(floor) = &run.record.flows[flow].detail else {
        return None;
    };
    let (from, end) = run.active(flow);
    let window = (Instant::ZERO + from, Instant::ZERO + end);
    Some(pictures::view(floor.pictures.iter().copied(), window))
}
