//! Percentiles of the samples of a run. Delays come from the same samples as the metrics,
//! so that a distribution agrees with a metric such as `e2e_ms_p95`.

use serde::{Deserialize, Serialize};
use weft_experiment::{Distribution, LegRecord};
use weft_units::{Duration, Instant};

use super::run::{Run, overlap};
use super::series::Series;
use super::view::views;
use crate::statistics::quantile;

/// Quantities with a distribution, by the names of their columns.
pub const QUANTITIES: [&str; 5] = ["rate_mbps", "wait_ms", "owd_ms", "fps", "e2e_ms"];

/// 0 %, 1 %, ... 100 %.
const POINTS: u32 = 100;

/// Percentiles of one quantity, from one run or several.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Percentiles {
    /// Number of samples.
    pub samples: u64,
    /// Value at 0 %, 1 %, ... 100 % of the samples.
    pub values: Vec<f64>,
}

/// Percentiles of a run, in the order of [`QUANTITIES`].
pub type RunPercentiles = [Option<Percentiles>; QUANTITIES.len()];

/// Returns the percentiles of the flows under test in the measured time.
#[must_use]
pub fn of(run: &Run<'_>, series: &Series) -> RunPercentiles {
    QUANTITIES.map(|name| match name {
        "wait_ms" => delays(run, |leg| &leg.queue_delay),
        "owd_ms" => delays(run, |leg| &leg.one_way_delay),
        "e2e_ms" => {
            let views = views(run, run.focus);
            Percentiles::of(views.into_iter().flat_map(|view| view.latency).collect())
        }
        _ => Percentiles::of(column(run, series, name)),
    })
}

/// Returns the percentiles over all packets, in all directions.
fn delays(run: &Run<'_>, of: fn(&LegRecord) -> &Distribution) -> Option<Percentiles> {
    let mut all = Distribution::default();
    let legs = run.focus.iter().flat_map(|&flow| run.legs(flow));
    legs.for_each(|leg| all.merge(of(leg)));
    let points = (0..=POINTS).map(|p| all.percentile(u64::from(p)).as_millis_f64());
    (all.count() > 0).then(|| Percentiles {
        samples: all.count(),
        values: points.collect(),
    })
}

/// Returns the rows of the series in which a flow under test ran and was measured.
fn column(run: &Run<'_>, series: &Series, name: &str) -> Vec<f64> {
    let mut found = Vec::new();
    for &flow in run.focus {
        let (of, active) = (&run.setup.flows[flow].name, run.active(flow));
        let columns = series.columns.iter();
        for column in columns.filter(|c| c.name == name && c.of == *of) {
            let rows = series.t.iter().zip(&column.values);
            let rows = rows.filter(|(t, _)| {
                let at = Instant::ZERO + Duration::from_secs_f64(**t);
                overlap(at, run.record.sample_every, active) > 0.99
            });
            found.extend(rows.filter_map(|(_, value)| *value));
        }
    }
    found
}

impl Percentiles {
    /// Returns the percentiles of these samples; `None` without samples.
    #[must_use]
    pub fn of(mut samples: Vec<f64>) -> Option<Percentiles> {
        samples.sort_by(f64::total_cmp);
        let points = (0..=POINTS).map(|p| quantile(&samples, f64::from(p) / f64::from(POINTS)));
        Some(Percentiles {
            samples: samples.len() as u64,
            values: points.collect::<Option<Vec<f64>>>()?,
        })
    }

    /// Combines the samples of several runs from their percentiles: each percentile
    /// counts as a hundredth of its run.
    #[must_use]
    pub fn together(runs: &[Percentiles]) -> Option<Percentiles> {
        let mut points: Vec<(f64, f64)> = Vec::new();
        for run in runs {
            let last = run.values.len() - 1;
            let weight = |at| if at == 0 || at == last { 0.5 } else { 1.0 };
            let weighted = run.values.iter().enumerate();
            points.extend(weighted.map(|(at, v)| (*v, weight(at) * run.samples as f64)));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let samples: u64 = runs.iter().map(|run| run.samples).sum();
        // Share of the samples below the middle of each point.
        let mut below = 0.0;
        let middles = points.iter().map(|(_, weight)| {
            below += weight;
            below - weight / 2.0
        });
        let middles: Vec<f64> = middles.collect();
        let ends = (points.first()?.0, points.last()?.0);
        let at = |percent: u32| -> f64 {
            match percent {
                0 => return ends.0,
                POINTS => return ends.1,
                _ => {}
            }
            let wanted = f64::from(percent) * samples as f64;
            let above = middles.partition_point(|middle| *middle < wanted);
            let above = above.clamp(1, points.len() - 1);
            let (from, to) = (middles[above - 1], middles[above]);
            let share = ((wanted - from) / (to - from)).clamp(0.0, 1.0);
            points[above - 1].0 + (points[above].0 - points[above - 1].0) * share
        };
        Some(Percentiles {
            samples,
            values: (0..=POINTS).map(at).collect(),
        })
    }
}

#[cfg(test)]
mod tests;
