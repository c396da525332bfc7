//! Disagreements of simulator and emulator about a scenario.

use serde::Serialize;

use super::{Outcome, Row};
use crate::measure::metrics;
use crate::scenario::Scenario;

/// Relative difference above which both disagree; chosen by us: about the variation
/// between seeds.
pub const THRESHOLD: f64 = 0.1;

/// Compared metrics: rates, queues and losses. Each has a minimum difference that counts,
/// in the metric's unit, since a tenth of almost nothing is negligible. Chosen by us: 20
/// kbit/s, a packet of 1500 bytes at 6 Mbit/s, one packet of two hundred.
const METRICS: [(&str, f64); 5] = [
    ("throughput_mbps", 0.02),
    ("utilisation", 0.02),
    ("queue_ms_mean", 2.0),
    ("queue_ms_p95", 2.0),
    ("loss", 0.005),
];

/// Metric with the values of both engines.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Disagreement {
    /// The system, as in the emulator's results.
    pub system: String,
    /// The simulator's corresponding system.
    pub simulated: String,
    /// Name in the table of metrics, with `.FLOW` or `.LINK` for a single one.
    pub metric: String,
    /// The metric's unit; `1` for plain numbers and shares.
    pub unit: &'static str,
    /// The simulator's value.
    pub sim: f64,
    /// The emulator's value.
    pub emu: f64,
    /// `(emu - sim) / sim`; `None` if the simulator's value is zero.
    pub relative: Option<f64>,
    /// Whether both agree within [`THRESHOLD`].
    pub agrees: bool,
}

/// Returns rates, queues and losses of both, for every flow.
#[must_use]
pub fn disagreements(sim: &Outcome<'_>, emu: &Outcome<'_>) -> Vec<Disagreement> {
    let simulated = sim.rows();
    let mut found = Vec::new();
    for row in emu.rows() {
        let base = row.metric.split('.').next().unwrap_or_default();
        let Some((_, least)) = METRICS.iter().find(|(name, _)| *name == base) else {
            continue;
        };
        let Some(other) = counterpart(sim.scenario(), emu.scenario(), &row.system) else {
            continue;
        };
        let same = |s: &&Row| s.system == other && s.metric == row.metric;
        if let Some(there) = simulated.iter().find(same) {
            found.push(compared(&row, there, *least));
        }
    }
    found
}

fn compared(emu: &Row, sim: &Row, least: f64) -> Disagreement {
    let difference = emu.mean - sim.mean;
    let relative = (sim.mean != 0.0).then(|| difference / sim.mean);
    let far = relative.is_none_or(|relative| relative.abs() > THRESHOLD);
    Disagreement {
        system: emu.system.clone(),
        simulated: sim.system.clone(),
        metric: emu.metric.clone(),
        unit: metrics::find(&emu.metric).map_or("1", |m| m.unit),
        sim: sim.mean,
        emu: emu.mean,
        relative,
        agrees: !far || difference.abs() <= least,
    }
}

/// Returns the simulated system of this name, or the first of those that the client does
/// not distinguish.
fn counterpart(sim: &Scenario, emu: &Scenario, system: &str) -> Option<String> {
    let all = &sim.variants;
    let here = emu.variants.iter().find(|v| v.name == system)?;
    let same = all.iter().find(|v| v.name == system);
    let like = all.iter().find(|v| v.setup == here.setup);
    same.or(like).map(|variant| variant.name.clone())
}

#[cfg(test)]
mod tests;
