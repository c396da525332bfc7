//! Freezes over time.

use serde::{Deserialize, Serialize};
use weft_units::Instant;

use crate::measure::run::Run;
use crate::measure::view::views;
use crate::statistics::mean;

/// Freezes of a flow, from the same [views](crate::measure::view::View) as its
/// `freeze_s`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Frozen {
    /// Name of the flow.
    pub of: String,
    /// Its `freeze_s` in this run.
    pub seconds: f64,
    /// Start and end of each freeze, in seconds since the start of the run: a list for
    /// each camera, or for each end with counters.
    pub cameras: Vec<Vec<(f64, f64)>>,
}

impl Frozen {
    /// Returns the frozen time of each flow that shows pictures.
    pub(super) fn of(run: &Run<'_>) -> Vec<Frozen> {
        let flows = run.setup.flows.iter().enumerate();
        let known = flows.filter_map(|(flow, setup)| {
            let views = views(run, &[flow]);
            let frozen = views.iter().filter_map(|view| view.frozen());
            let seconds = |at: Instant| at.as_secs_f64();
            let cameras = views.iter().filter_map(|view| view.freezes.as_ref());
            let spans = cameras.map(|freezes| {
                let spans = freezes.iter().map(|f| (seconds(f.begin), seconds(f.end)));
                spans.collect()
            });
            Some(Frozen {
                of: setup.name.clone(),
                seconds: mean(frozen.map(|frozen| frozen.seconds))?,
                cameras: spans.collect(),
            })
        });
        known.collect()
    }
}
