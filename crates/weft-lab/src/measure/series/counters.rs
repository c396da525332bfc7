//! Counters that programs reported, as columns.

use weft_experiment::CounterSample;

use super::column::Series;
use crate::measure::run::Run;
use crate::measure::view::logs;

type Quantity = fn(&CounterSample) -> Option<f64>;

const COLUMNS: [(&str, &str, Quantity); 5] = [
    ("target_mbps", "Mbit/s", |s| s.sent.as_ref()?.target_mbps),
    ("fps", "1/s", |s| s.received.as_ref()?.fps),
    ("rtt_ms", "ms", |s| s.rtt_ms),
    ("height_px", "px", |s| s.received.as_ref()?.height),
    ("jitter_buffer_ms", "ms", |s| {
        s.received.as_ref()?.jitter_buffer_ms
    }),
];

impl Series {
    /// Adds columns for each flow whose ends reported counters.
    pub(crate) fn add_counters(&mut self, run: &Run<'_>) {
        for (flow, setup) in run.setup.flows.iter().enumerate() {
            for (name, unit, of) in COLUMNS {
                let rows = self.t.iter().map(|t| at(run, flow, *t, of));
                let values: Vec<Option<f64>> = rows.collect();
                if values.iter().any(Option::is_some) {
                    self.add(name, &setup.name, unit, values);
                }
            }
        }
    }
}

/// Returns the last report, at most a second old, of the first end that has the quantity.
fn at(run: &Run<'_>, flow: usize, t: f64, of: Quantity) -> Option<f64> {
    const STALE_S: f64 = 1.0;
    let mut found = logs(run, flow).iter().map(|log| {
        let last = log.samples.iter().rfind(|s| s.at_s <= t)?;
        of(last).filter(|_| t - last.at_s <= STALE_S)
    });
    found.find_map(|value| value)
}
