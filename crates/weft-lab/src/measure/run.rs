//! Run to evaluate: its setup and its record.

use weft_experiment::{FlowRecord, FlowSetup, LegRecord, Record, Setup};
use weft_units::{Duration, Instant};

use super::capacity::Capacities;

/// Run to evaluate.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Setup of the run.
    pub setup: &'a Setup,
    /// Positions of the flows under test.
    pub focus: &'a [usize],
    /// Start of the measurement; earlier times do not count.
    pub from: Duration,
    /// End of the measurement, if this is a section of a run.
    pub until: Option<Duration>,
    /// Capacities of its links.
    pub capacities: &'a Capacities,
    /// Record of the run.
    pub record: &'a Record,
}

/// Value of one run.
pub type Value = (String, f64);

/// Returns the part of the measured time in which these flows have competition: from the
/// start of the first competitor to the end of the last one.
#[must_use]
pub fn competition(
    setup: &Setup,
    with: &[usize],
    (from, end): (Duration, Duration),
) -> Option<(Duration, Duration)> {
    let others = (0..setup.flows.len()).filter(|flow| !with.contains(flow));
    let times: Vec<_> = others
        .map(|flow| active(&setup.flows[flow], (from, end)))
        .collect();
    let start = times.iter().map(|t| t.0).min()?;
    let end = times.iter().map(|t| t.1).max()?;
    (start < end).then_some((start, end))
}

fn active(flow: &FlowSetup, (from, end): (Duration, Duration)) -> (Duration, Duration) {
    let stop = flow.stops_at(end);
    (flow.start.max(from).min(stop), stop)
}

impl Run<'_> {
    /// Returns the end of the run, or of its section.
    #[must_use]
    pub fn end(&self) -> Duration {
        let end = self.record.ended_at.saturating_since(Instant::ZERO);
        self.until.map_or(end, |until| until.min(end))
    }

    /// Returns the time in which the flow ran and was measured.
    #[must_use]
    pub fn active(&self, flow: usize) -> (Duration, Duration) {
        active(&self.setup.flows[flow], (self.from, self.end()))
    }

    /// Returns the measured share of the period that ends at `at`, 0 to 1.
    #[must_use]
    pub fn measured(&self, at: Instant) -> f64 {
        overlap(at, self.record.sample_every, (self.from, self.end()))
    }

    /// Returns the record of a flow.
    #[must_use]
    pub fn flow(&self, flow: usize) -> &FlowRecord {
        &self.record.flows[flow]
    }

    /// Iterates over the routes of the flow's data.
    pub fn legs(&self, flow: usize) -> impl Iterator<Item = &LegRecord> {
        self.flow(flow).routes.iter().map(|route| &route.there)
    }

    /// Adds the value of the flows under test, and of each flow if there are several.
    pub fn for_each_flow(
        &self,
        name: &str,
        values: &mut Vec<Value>,
        whole: Option<f64>,
        single: impl Fn(usize) -> Option<f64>,
    ) {
        values.extend(whole.map(|value| (name.to_owned(), value)));
        if self.setup.flows.len() == 1 {
            return;
        }
        for (index, flow) in self.setup.flows.iter().enumerate() {
            values.extend(single(index).map(|value| (format!("{name}.{}", flow.name), value)));
        }
    }
}

/// Returns the share of the period that ends at `at` which lies within the window.
#[must_use]
pub fn overlap(at: Instant, period: Duration, window: (Duration, Duration)) -> f64 {
    let end = at.saturating_since(Instant::ZERO);
    let begin = end.saturating_sub(period);
    let within = end.min(window.1).saturating_sub(begin.max(window.0));
    match end.saturating_sub(begin).as_nanos() {
        0 => 0.0,
        length => within.as_nanos() as f64 / length as f64,
    }
}
