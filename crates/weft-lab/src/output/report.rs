//! `report.html` (the page that Vite built from `web/report`, with the data of a run) and
//! `report.json` (only the data).

use std::collections::BTreeMap;

use weft_links::{MediumSpec, WiredDirection};

use super::conditions::Conditions;
use super::layout::{About, Data, Flow, Link, SCHEMA, System};
use crate::measure::metrics::{self, Metric};
use crate::measure::series::Series;
use crate::outcome::Outcome;

/// The page without data.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/report.html"));
/// Placeholder of the data.
const MARK: &str = "<!--data-->";

/// Whether a run has written it: [`data`], or its placeholder.
pub fn is_ours(text: &str) -> bool {
    let read = serde_json::from_str::<serde_json::Value>(text);
    let object = read.as_ref().ok().and_then(serde_json::Value::as_object);
    object.is_some_and(|data| data.is_empty() || data.contains_key("schema"))
}

/// Checks that this is output of [`data`]. It may be the placeholder until a run has
/// ended, or have another layout.
pub fn check_data(text: &str) -> Result<(), (String, &'static str)> {
    let read = serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
    match read.get("schema").and_then(serde_json::Value::as_u64) {
        Some(schema) if schema != u64::from(SCHEMA) => Err((
            format!("it has the layout {schema}, and this program writes that of {SCHEMA}"),
            "use the version of weft that ran it, or run it again",
        )),
        Some(_) if read.get("results").is_some() => Ok(()),
        _ => Err((
            "it holds no results".to_owned(),
            "the run that should have written it did not end: start it again",
        )),
    }
}

/// Returns all data of the page, as JSON.
#[must_use]
pub fn data(outcome: &Outcome<'_>, conditions: &Conditions) -> String {
    let scenario = outcome.scenario();
    let variants = scenario.variants.iter();
    let systems = variants.map(|v| System {
        name: &v.name,
        system: &v.system.name,
        case: &v.case,
    });
    let results = outcome.rows();
    let mut values: BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>> = BTreeMap::new();
    for row in &results {
        let variant = scenario
            .variants
            .iter()
            .position(|v| v.name == row.system)
            .unwrap_or_default();
        let of = values.entry(row.system.clone()).or_default();
        of.insert(row.metric.clone(), outcome.values(variant, &row.metric));
    }
    let series_of = |seed: u64| -> BTreeMap<String, Series> {
        let variants = scenario.variants.iter().enumerate();
        let series = variants.filter_map(|(index, variant)| {
            let series = outcome.series(index, seed)?.clone();
            Some((variant.name.clone(), series))
        });
        series.collect()
    };
    let further = outcome.seeds().into_iter().filter(|seed| *seed > 1);
    let further = further.map(|seed| (seed, series_of(seed)));
    let further = further.filter(|(_, series)| !series.is_empty());
    let mut used: Vec<&'static Metric> = Vec::new();
    for metric in results.iter().filter_map(|r| metrics::find(&r.metric)) {
        if !used.iter().any(|known| known.name == metric.name) {
            used.push(metric);
        }
    }
    used.sort_by_key(|metric| metrics::position(metric.name));
    let failed = outcome.failed().iter().map(|f| {
        format!(
            "{} with seed {}: {}",
            scenario.variants[f.task.variant].name, f.task.seed, f.error
        )
    });
    let data = Data {
        schema: SCHEMA,
        scenario: about(outcome),
        engine: outcome.engine().name(),
        version: crate::VERSION,
        conditions,
        notes: outcome
            .notes()
            .into_iter()
            .chain(missing(outcome))
            .collect(),
        seeds: outcome.seeds(),
        traces: outcome.traces(),
        wanted: outcome.wanted(),
        finished: outcome.finished(),
        failed: failed.collect(),
        events: outcome.events(),
        systems: systems.collect(),
        metrics: used,
        key_metrics: &metrics::KEY,
        answers: outcome.answers(),
        values,
        differences: outcome.differences(),
        published: outcome.compared(),
        worse_than_single: outcome.worse_than_single(),
        selfcheck: outcome.checks(),
        cdfs: outcome.cdfs(),
        profiles: outcome.profiles(),
        series: series_of(1),
        more_series: further.collect(),
        recordings: Vec::new(),
        results,
    };
    serde_json::to_string(&data).expect("plain data")
}

/// Returns a note on requested metrics that were not measured.
#[must_use]
pub fn missing(outcome: &Outcome<'_>) -> Option<String> {
    let names = outcome.missing();
    let engine = outcome.engine().title();
    let text = || {
        let names = names.join(", ");
        format!("not measured by the {engine}, or nothing of the kind occurred: {names}")
    };
    (!names.is_empty()).then(text)
}

/// Describes a direction, as far as known beforehand.
fn words(medium: &MediumSpec, direction: WiredDirection) -> String {
    let link = medium.link(direction.station());
    link.map_or_else(|| "shared by its stations".to_owned(), ToString::to_string)
}

fn about<'a>(outcome: &Outcome<'a>) -> About<'a> {
    let scenario = outcome.scenario();
    let first = scenario.variants.first();
    let setup = first.map(|v| &v.setup);
    let links = setup.into_iter().flat_map(|s| &s.links).map(|link| Link {
        name: link.name.clone(),
        forward: words(&link.medium, WiredDirection::Forward),
        backward: words(&link.medium, WiredDirection::Backward),
    });
    let flows = setup.into_iter().flat_map(|s| {
        s.flows.iter().enumerate().map(move |(index, flow)| {
            let hops = flow.routes.iter().flat_map(|r| &r.hops);
            Flow {
                name: flow.name.clone(),
                what: flow.traffic().words(),
                via: hops.map(|hop| s.link_name(hop).to_owned()).collect(),
                start_s: flow.start.as_secs_f64(),
                stop_s: flow.stop.unwrap_or(s.duration).as_secs_f64(),
                focus: first.is_some_and(|v| v.focus.contains(&index)),
            }
        })
    });
    About {
        name: &scenario.name,
        title: &scenario.title,
        about: &scenario.about,
        file: &scenario.source.file,
        text: &scenario.source.text,
        duration_s: scenario.duration().as_secs_f64(),
        measure_from_s: scenario.measure_from.as_secs_f64(),
        centre: scenario.centre,
        baseline: scenario.baseline.as_deref(),
        metrics: &scenario.metrics,
        links: links.collect(),
        flows: flows.collect(),
    }
}

/// Returns the page with this data. The page loads nothing else.
#[must_use]
pub fn render(data: &str) -> String {
    // Nothing within a script element may look like its end, or like a comment.
    let safe = data.replace('<', "\\u003c");
    PAGE.replacen(MARK, &safe, 1)
}

#[cfg(test)]
mod tests;
