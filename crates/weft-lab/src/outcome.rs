//! All runs of a scenario together: estimates, differences, what was
//! published beside what came out, and the self-check.

mod single;

use std::collections::BTreeMap;

use serde::Serialize;

use crate::metrics::{self, Better};
use crate::run::{Check, Failed, Run, Series};
use crate::scenario::{Published, Scenario};
use crate::statistics::{Estimate, paired, quantile};

pub use single::{MARGIN, Worse};

/// The points of a distribution function: 0 %, 1 %, ... 100 %.
const CDF_POINTS: u32 = 100;
/// Samples that distribution functions are made of.
const CDF_OF: [&str; 4] = ["rate_mbps", "owd_ms", "fps", "e2e_ms"];

/// What runs were made by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    /// The simulator.
    #[default]
    Sim,
    /// The emulator.
    Emu,
}

/// What a scenario's runs gave so far.
#[derive(Debug)]
pub struct Outcome<'a> {
    scenario: &'a Scenario,
    engine: Engine,
    /// What must be known of the runs, each thing once.
    /// By variant and seed.
    notes: BTreeMap<(usize, u64), Vec<String>>,
    /// By variant, then by seed.
    values: Vec<Vec<Option<Vec<metrics::Value>>>>,
    /// By variant: of seed 1.
    series: Vec<Option<Series>>,
    /// By variant and quantity: samples of all seeds.
    samples: Vec<[Vec<f64>; CDF_OF.len()]>,
    /// By variant: the worst of all seeds.
    checks: Vec<Vec<Check>>,
    /// Runs that went wrong, in order of variant and seed.
    failed: Vec<Failed>,
    events: u64,
}

/// A metric of a system over all seeds, as in `summary.json`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The variant's name.
    pub system: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// Mean, or median where the scenario says so.
    pub mean: f64,
    /// 95 % confidence interval; nulls from a single seed.
    pub ci95: [Option<f64>; 2],
    /// Seeds.
    pub n: usize,
}

/// What a system changes against the baseline, seed by seed.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// The variant's name.
    pub system: String,
    /// The baseline's name.
    pub baseline: String,
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: &'static str,
    /// Mean (or median) of the differences.
    pub mean: f64,
    /// 95 % confidence interval.
    pub ci95: [Option<f64>; 2],
    /// `better`, `worse`, `same` when no pair differs, or `unclear` when the
    /// interval holds zero.
    pub verdict: &'static str,
    /// Pairs.
    pub n: usize,
}

/// A published value beside ours.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// The system.
    pub system: String,
    /// The metric.
    pub metric: String,
    /// Where it was published.
    pub source: String,
    /// The value there; `None` for a range or a bound.
    pub published: Option<f64>,
    /// The range that agrees with it; `None` where it has no such end.
    pub agrees: [Option<f64>; 2],
    /// The system to which the values are ratios.
    pub relative_to: Option<String>,
    /// The value here.
    pub here: Option<f64>,
    /// Its interval.
    pub ci95: [Option<f64>; 2],
    /// `agrees`, `unclear` when only the interval touches the range, `higher`,
    /// `lower`, or `not measured`.
    pub verdict: &'static str,
}

/// A check of the self-check with the system it was seen under.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SystemCheck {
    /// The variant's name.
    pub system: String,
    /// The check.
    #[serde(flatten)]
    pub check: Check,
}

/// A distribution function.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cdf {
    /// The variant's name.
    pub system: String,
    /// The quantity.
    pub of: &'static str,
    /// Its values at 0 %, 1 %, ... 100 % of the samples.
    pub quantiles: Vec<f64>,
}

impl<'a> Outcome<'a> {
    /// Nothing ran yet; the simulator will.
    #[must_use]
    pub fn new(scenario: &'a Scenario) -> Outcome<'a> {
        Outcome::of(scenario, Engine::Sim)
    }

    /// Nothing ran yet.
    #[must_use]
    pub fn of(scenario: &'a Scenario, engine: Engine) -> Outcome<'a> {
        let variants = scenario.variants.len();
        Outcome {
            scenario,
            engine,
            notes: BTreeMap::new(),
            values: vec![vec![None; scenario.seeds as usize]; variants],
            series: vec![None; variants],
            samples: vec![Default::default(); variants],
            checks: vec![Vec::new(); variants],
            failed: Vec::new(),
            events: 0,
        }
    }

    /// A run has ended. The order of runs does not matter.
    pub fn add(&mut self, run: Run) {
        let flows = &self.scenario.variants[run.variant];
        let focus: Vec<&str> = flows
            .focus
            .iter()
            .map(|&f| flows.setup.flows[f].name.as_str())
            .collect();
        for (name, samples) in CDF_OF.iter().zip(&mut self.samples[run.variant]) {
            let columns = run.series.columns.iter();
            let of_focus = columns.filter(|c| c.name == *name && focus.contains(&c.of.as_str()));
            samples.extend(of_focus.flat_map(|c| c.values.iter().flatten()));
        }
        worst(&mut self.checks[run.variant], run.checks);
        self.notes.insert((run.variant, run.seed), run.notes);
        if run.seed == 1 {
            self.series[run.variant] = Some(run.series);
        }
        self.values[run.variant][run.seed as usize - 1] = Some(run.values);
        self.events += run.events;
    }

    /// A run went wrong.
    pub fn add_failed(&mut self, failed: Failed) {
        self.failed.push(failed);
        self.failed.sort_by_key(|f| (f.variant, f.seed));
    }

    /// What was run.
    #[must_use]
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// What made the runs.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.engine
    }

    /// What must be known of scenario and runs to judge them. What is true of
    /// every run is said once, anything else with the run that it is about.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut all = self.scenario.notes();
        let runs = || self.notes.iter();
        for ((variant, seed), notes) in runs() {
            let system = &self.scenario.variants[*variant].name;
            for note in notes {
                let told = match runs().all(|(_, notes)| notes.contains(note)) {
                    true => note.clone(),
                    false => format!("{system}, seed {seed}: {note}"),
                };
                if !all.contains(&told) {
                    all.push(told);
                }
            }
        }
        all
    }

    /// Runs that ended well.
    #[must_use]
    pub fn finished(&self) -> usize {
        self.values.iter().flatten().flatten().count()
    }

    /// Runs that there should be.
    #[must_use]
    pub fn wanted(&self) -> usize {
        self.values.len() * self.scenario.seeds as usize
    }

    /// Runs that went wrong.
    #[must_use]
    pub fn failed(&self) -> &[Failed] {
        &self.failed
    }

    /// Events of all runs.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Seeds of which at least one run ended.
    #[must_use]
    pub fn seeds(&self) -> Vec<u64> {
        let seeds = 0..self.scenario.seeds as usize;
        let ended = seeds.filter(|&seed| self.values.iter().any(|of| of[seed].is_some()));
        ended.map(|seed| seed as u64 + 1).collect()
    }

    /// What stood for the star in the names of the traces, in the order of the
    /// seeds that play them.
    #[must_use]
    pub fn traces(&self) -> Vec<&'a str> {
        let first = self.scenario.variants.first();
        first.map_or(Vec::new(), |variant| variant.traces.names().collect())
    }

    /// The series of a variant with seed 1.
    #[must_use]
    pub fn series(&self, variant: usize) -> Option<&Series> {
        self.series[variant].as_ref()
    }

    /// Every metric of every variant.
    #[must_use]
    pub fn rows(&self) -> Vec<Row> {
        let variants = 0..self.scenario.variants.len();
        let rows = variants.flat_map(|variant| {
            let metrics = self.metrics_of(variant).into_iter();
            metrics.filter_map(move |metric| self.row(variant, metric))
        });
        rows.collect()
    }

    /// Values by seed; none where a seed has no such value.
    #[must_use]
    pub fn values(&self, variant: usize, metric: &str) -> Vec<Option<f64>> {
        let find = |values: &Vec<metrics::Value>| {
            values
                .iter()
                .find(|(name, _)| name == metric)
                .map(|(_, value)| *value)
        };
        self.values[variant]
            .iter()
            .map(|of| of.as_ref().and_then(find))
            .collect()
    }

    /// Every system against the baseline under the same varied values.
    #[must_use]
    pub fn differences(&self) -> Vec<Difference> {
        let Some(baseline) = &self.scenario.baseline else {
            return Vec::new();
        };
        let variants = &self.scenario.variants;
        let mut found = Vec::new();
        for (here, variant) in variants.iter().enumerate() {
            let same =
                |v: &crate::scenario::Variant| v.system.name == *baseline && v.case == variant.case;
            let there = variants.iter().position(same);
            let Some(there) = there.filter(|&there| there != here) else {
                continue;
            };
            for metric in self.metrics_of(here) {
                found.extend(self.difference(here, there, metric));
            }
        }
        found
    }

    /// What was published, beside what came out.
    #[must_use]
    pub fn compared(&self) -> Vec<Compared> {
        let here = |entry: &&Published| {
            let variants = self.scenario.variants.iter();
            let mut names = variants.flat_map(|v| [v.name.as_str(), v.system.name.as_str()]);
            names.any(|name| name == entry.system)
        };
        self.scenario
            .published
            .iter()
            .filter(here)
            .map(|entry| self.compare(entry))
            .collect()
    }

    /// The self-check of all systems.
    #[must_use]
    pub fn checks(&self) -> Vec<SystemCheck> {
        let of = self.scenario.variants.iter().zip(&self.checks);
        let all = of.flat_map(|(variant, checks)| {
            let system = |check: &Check| SystemCheck {
                system: variant.name.clone(),
                check: check.clone(),
            };
            checks.iter().map(system)
        });
        all.collect()
    }

    /// Distribution functions over all seeds.
    #[must_use]
    pub fn cdfs(&self) -> Vec<Cdf> {
        let mut cdfs = Vec::new();
        for (of, name) in CDF_OF.iter().enumerate() {
            for (variant, samples) in self.scenario.variants.iter().zip(&self.samples) {
                let mut sorted = samples[of].clone();
                sorted.sort_by(f64::total_cmp);
                let points = (0..=CDF_POINTS)
                    .map(|p| quantile(&sorted, f64::from(p) / f64::from(CDF_POINTS)));
                if let Some(quantiles) = points.collect::<Option<Vec<f64>>>() {
                    cdfs.push(Cdf {
                        system: variant.name.clone(),
                        of: name,
                        quantiles,
                    });
                }
            }
        }
        cdfs
    }

    /// Names of the metrics that a variant has, in their order.
    fn metrics_of(&self, variant: usize) -> Vec<&str> {
        let wanted = &self.scenario.metrics;
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.values[variant].iter().flatten().flatten() {
            let base = name.split_once('.').map_or(name.as_str(), |(base, _)| base);
            let listed = wanted.is_empty() || wanted.iter().any(|w| w == name || w == base);
            if listed && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    fn row(&self, variant: usize, metric: &str) -> Option<Row> {
        let values: Vec<f64> = self.values(variant, metric).into_iter().flatten().collect();
        let never_negative = values.iter().all(|value| *value >= 0.0);
        let estimate = Estimate::of(&values, self.scenario.centre)?;
        let estimate = if never_negative {
            estimate.non_negative()
        } else {
            estimate
        };
        Some(Row {
            system: self.scenario.variants[variant].name.clone(),
            metric: metric.to_owned(),
            unit: metrics::find(metric).map_or("1", |m| m.unit),
            mean: estimate.centre,
            ci95: bounds(&estimate),
            n: estimate.n,
        })
    }

    fn difference(&self, here: usize, there: usize, metric: &str) -> Option<Difference> {
        let centre = self.scenario.centre;
        let estimate = paired(
            &self.values(here, metric),
            &self.values(there, metric),
            centre,
        )?;
        let about = metrics::find(metric)?;
        let improves = match about.better {
            Better::Higher => Some(estimate.low() > 0.0),
            Better::Lower => Some(estimate.high() < 0.0),
            Better::Neither => None,
        };
        let certain = estimate
            .interval
            .is_some_and(|(low, high)| low > 0.0 || high < 0.0);
        let verdict = match (certain, improves) {
            _ if estimate.interval == Some((0.0, 0.0)) => "same",
            (true, Some(true)) => "better",
            (true, Some(false)) => "worse",
            (true, None) => "different",
            (false, _) => "unclear",
        };
        let variants = &self.scenario.variants;
        Some(Difference {
            system: variants[here].name.clone(),
            baseline: variants[there].name.clone(),
            metric: metric.to_owned(),
            unit: about.unit,
            mean: estimate.centre,
            ci95: bounds(&estimate),
            verdict,
            n: estimate.n,
        })
    }

    fn compare(&self, entry: &Published) -> Compared {
        let named = |name: &str| {
            let variants = &self.scenario.variants;
            let full = variants.iter().position(|v| v.name == name);
            full.or_else(|| variants.iter().position(|v| v.system.name == name))
        };
        let mut values = named(&entry.system).map_or(Vec::new(), |v| self.values(v, &entry.metric));
        if let Some(other) = entry.relative_to.as_deref() {
            let there = named(other).map_or(Vec::new(), |v| self.values(v, &entry.metric));
            let ratio = |(a, b): (Option<f64>, Option<f64>)| Some(a? / b.filter(|b| *b != 0.0)?);
            values = values.into_iter().zip(there).map(ratio).collect();
        }
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let estimate = Estimate::of(&values, self.scenario.centre);
        Compared {
            system: entry.system.clone(),
            metric: entry.metric.clone(),
            source: entry.source.clone(),
            published: entry.value,
            agrees: [entry.low, entry.high].map(|end| Some(end).filter(|end| end.is_finite())),
            relative_to: entry.relative_to.clone(),
            here: estimate.map(|e| e.centre),
            ci95: estimate.map_or([None, None], |e| bounds(&e)),
            verdict: estimate.map_or("not measured", |e| verdict(&e, entry.low, entry.high)),
        }
    }
}

fn verdict(here: &Estimate, low: f64, high: f64) -> &'static str {
    if (low..=high).contains(&here.centre) {
        "agrees"
    } else if here.low() <= high && here.high() >= low {
        "unclear"
    } else if here.centre > high {
        "higher"
    } else {
        "lower"
    }
}

fn bounds(estimate: &Estimate) -> [Option<f64>; 2] {
    [
        estimate.interval.map(|i| i.0),
        estimate.interval.map(|i| i.1),
    ]
}

/// Keeps, check by check, what is further off.
fn worst(kept: &mut Vec<Check>, new: Vec<Check>) {
    for check in new {
        let known = kept
            .iter_mut()
            .find(|k| (k.what, &k.of) == (check.what, &check.of));
        // Ties go to the larger value, so that the order does not matter.
        let off = |c: &Check| {
            (
                (c.measured - c.configured).abs() / c.configured.abs().max(1e-9),
                c.measured,
            )
        };
        match known {
            None => kept.push(check),
            Some(known) => {
                let further = match check.what {
                    // Limits: the nearest to them, or the furthest beyond.
                    "queue_ms" | "rate_mbps" | "late_ms" => {
                        check.measured / check.configured > known.measured / known.configured
                    }
                    "unlogged" => check.measured > known.measured,
                    _ => off(&check) > off(known),
                };
                if (known.ok, further) == (true, true)
                    || (known.ok && !check.ok)
                    || (further && !check.ok)
                {
                    *known = check;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
