//! Recordings in the report: alone, or beside the results of runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::columns::aligned;
use super::conditions::Conditions;
use super::layout::{About, Data, Flow, Link, Recorded, SCHEMA, System};
use super::report::render;
use super::{Folder, OutputError, failed, read_data};
use crate::figures::figure;
use crate::measure::metrics::{self, Metric};
use crate::measure::percentiles::QUANTITIES;
use crate::measure::series::Series;
use crate::outcome::{Cdf, Row};
use crate::recording::{Owner, Recording};
use crate::statistics::Centre;

/// Name of the flow in a report that has only recordings.
const CALL: &str = "call";
/// Maximum number of rows of a series; a page cannot show more. Chosen by us.
const MAX_ROWS: f64 = 3_000.0;

/// Recordings could not be shown; the text has the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ImportOutputError {
    /// A file could not be read or written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A system of the report already has this name.
    #[error("there are two systems `{0}`: give the recording another name, as in NAME=FILE")]
    NameTaken(String),
    /// The folder contains the results of a run.
    #[error(
        "{0}: this folder has the results of a run, and the import would replace them: give another \
         folder with --out"
    )]
    HasResults(String),
}

/// Parts of a report that recordings add.
struct Parts<'a> {
    systems: Vec<System<'a>>,
    metrics: Vec<&'static Metric>,
    results: Vec<Row>,
    values: BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>>,
    cdfs: Vec<Cdf>,
    series: BTreeMap<String, Series>,
    recordings: Vec<Recorded<'a>>,
    flows: Vec<Flow>,
    links: Vec<Link>,
}

/// Flow and period of the report that recordings join.
struct Frame<'a> {
    step: f64,
    call: &'a str,
}

/// Writes `report.json` and `report.html` into the folder `out`: the recordings alone, or
/// beside the results in the folder `beside`.
///
/// # Errors
/// If a folder cannot be read or written, or a name is taken.
pub fn write_recordings(
    recordings: &[Recording],
    conditions: &Conditions,
    beside: Option<&Path>,
    out: &Path,
) -> Result<(), ImportOutputError> {
    check_names(recordings.iter().map(|one| one.name.clone()))?;
    let data = match beside {
        Some(folder) => joined(recordings, &read_data(folder)?)?,
        None => alone(recordings, conditions),
    };
    let folder = folder(out)?;
    folder.write("report.json", data.as_bytes())?;
    folder.write("report.html", render(&data).as_bytes())?;
    Ok(())
}

/// Opens the folder for the report, unless it has results of runs.
fn folder(path: &Path) -> Result<Folder, ImportOutputError> {
    fs::create_dir_all(path).map_err(|error| failed(path, error))?;
    let known = match fs::read_to_string(path.join("report.json")) {
        Ok(text) => Some(serde_json::from_str::<Value>(&text).unwrap_or_default()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(path, error).into()),
    };
    let is_ours = known.is_none_or(|data| data.get("recordings").is_some());
    match is_ours && Folder::scenario_at(path).is_none() {
        true => Ok(Folder {
            path: path.to_owned(),
        }),
        false => Err(ImportOutputError::HasResults(path.display().to_string())),
    }
}

fn check_names(names: impl Iterator<Item = String>) -> Result<(), ImportOutputError> {
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name.clone()) {
            return Err(ImportOutputError::NameTaken(name));
        }
    }
    Ok(())
}

/// Returns the data of a report with only recordings.
fn alone(recordings: &[Recording], conditions: &Conditions) -> String {
    let longest = recordings.iter().map(|one| one.seconds).fold(0.0, f64::max);
    let finest = recordings.iter().map(|one| one.step).fold(1.0, f64::min);
    let step = bounded(finest, longest);
    let parts = Parts::of(recordings, &Frame { step, call: CALL });
    let has_call = |one: &Recording| one.tracks.iter().any(|track| track.owner == Owner::Call);
    let call = recordings.iter().any(has_call).then(|| Flow {
        name: CALL.to_owned(),
        what: "recorded call".to_owned(),
        via: Vec::new(),
        start_s: 0.0,
        stop_s: longest,
        focus: true,
    });
    let one = if recordings.len() == 1 { "" } else { "s" };
    let data = Data {
        schema: SCHEMA,
        scenario: About {
            name: "import",
            title: &format!("{} recording{one}", recordings.len()),
            about: "",
            file: "",
            text: "",
            duration_s: longest,
            measure_from_s: 0.0,
            centre: Centre::Mean,
            baseline: None,
            metrics: &[],
            links: parts.links,
            flows: call.into_iter().chain(parts.flows).collect(),
        },
        engine: "recording",
        version: crate::VERSION,
        conditions,
        notes: Vec::new(),
        seeds: vec![1],
        traces: Vec::new(),
        wanted: recordings.len(),
        finished: recordings.len(),
        failed: Vec::new(),
        events: 0,
        systems: parts.systems,
        metrics: parts.metrics,
        key_metrics: &metrics::KEY,
        answers: Vec::new(),
        results: parts.results,
        values: parts.values,
        differences: Vec::new(),
        published: Vec::new(),
        worse_than_single: Vec::new(),
        selfcheck: Vec::new(),
        cdfs: parts.cdfs,
        profiles: Vec::new(),
        series: parts.series,
        more_series: BTreeMap::new(),
        recordings: parts.recordings,
    };
    serde_json::to_string(&data).expect("plain data")
}

/// Returns the shortest multiple of a step with which so many seconds have few enough rows.
fn bounded(step: f64, seconds: f64) -> f64 {
    step * (seconds / step / MAX_ROWS).ceil().max(1.0)
}

/// Returns the data of a report with the recordings added. The layout of the text has
/// been checked.
fn joined(recordings: &[Recording], text: &str) -> Result<String, ImportOutputError> {
    let read = serde_json::from_str::<Map<String, Value>>(text);
    let mut data = read.unwrap_or_default();
    let known = data["systems"].as_array().cloned().unwrap_or_default();
    let known = known.iter().filter_map(|each| each["name"].as_str());
    let known: Vec<String> = known.map(str::to_owned).collect();
    check_names(
        known
            .into_iter()
            .chain(recordings.iter().map(|one| one.name.clone())),
    )?;
    let call = focus(&data).unwrap_or(CALL.to_owned());
    let frame = Frame {
        step: step(&data).unwrap_or(1.0),
        call: &call,
    };
    let parts = Parts::of(recordings, &frame);
    let metrics = data.get("metrics").and_then(Value::as_array);
    let listed: BTreeSet<String> = metrics
        .into_iter()
        .flatten()
        .filter_map(|metric| Some(metric["name"].as_str()?.to_owned()))
        .collect();
    let new = parts
        .metrics
        .iter()
        .filter(|metric| !listed.contains(metric.name));
    append(&mut data, "metrics", &new.collect::<Vec<_>>());
    if let Some(Value::Array(metrics)) = data.get_mut("metrics") {
        metrics.sort_by_key(|metric| metric["name"].as_str().and_then(metrics::position));
    }
    append(&mut data, "systems", &parts.systems);
    append(&mut data, "results", &parts.results);
    append(&mut data, "cdfs", &parts.cdfs);
    append(&mut data, "recordings", &parts.recordings);
    extend(&mut data, "values", &parts.values);
    extend(&mut data, "series", &parts.series);
    if let Some(Value::Object(scenario)) = data.get_mut("scenario") {
        let is_new = |key: &str, name: &str, scenario: &Map<String, Value>| {
            let known = scenario.get(key).and_then(Value::as_array);
            known.is_none_or(|all| all.iter().all(|each| each["name"] != name))
        };
        let flows = parts
            .flows
            .iter()
            .filter(|f| is_new("flows", &f.name, scenario));
        let flows: Vec<&Flow> = flows.collect();
        let links = parts
            .links
            .iter()
            .filter(|l| is_new("links", &l.name, scenario));
        let links: Vec<&Link> = links.collect();
        append(scenario, "flows", &flows);
        append(scenario, "links", &links);
    }
    Ok(Value::Object(data).to_string())
}

/// Returns the name of the flow under test.
fn focus(data: &Map<String, Value>) -> Option<String> {
    let flows = data["scenario"]["flows"].as_array()?;
    let focus = flows.iter().find(|flow| flow["focus"] == true);
    Some(focus?["name"].as_str()?.to_owned())
}

/// Returns the period of the series, seconds.
fn step(data: &Map<String, Value>) -> Option<f64> {
    let series = data.get("series")?.as_object()?.values().next()?;
    let first = series["t"].get(0)?.as_f64()?;
    (first > 0.0).then_some(first)
}

fn append(data: &mut Map<String, Value>, key: &str, items: &impl Serialize) {
    let items = serde_json::to_value(items).expect("plain data");
    let list = data.entry(key).or_insert_with(|| json!([]));
    if let (Value::Array(list), Value::Array(items)) = (list, items) {
        list.extend(items);
    }
}

fn extend(data: &mut Map<String, Value>, key: &str, items: &impl Serialize) {
    let items = serde_json::to_value(items).expect("plain data");
    let map = data.entry(key).or_insert_with(|| json!({}));
    if let (Value::Object(map), Value::Object(items)) = (map, items) {
        map.extend(items);
    }
}

impl<'a> Parts<'a> {
    fn of(recordings: &'a [Recording], frame: &Frame<'_>) -> Parts<'a> {
        let all = recordings.iter();
        let systems = all.clone().map(|one| System {
            name: &one.name,
            system: &one.name,
            case: &[],
        });
        let values = all.clone().map(|one| {
            let values = one.values.iter();
            let values = values.map(|(metric, value)| (metric.clone(), vec![Some(*value)]));
            (one.name.clone(), values.collect())
        });
        let series = all.clone().map(|one| {
            let series = one.series(bounded(frame.step, one.seconds), frame.call);
            (one.name.clone(), series)
        });
        let recorded = all.clone().map(|one| Recorded {
            name: &one.name,
            format: one.format,
            about: &one.about,
            seconds: one.seconds,
            notes: &one.notes,
            cut: one.cut.as_deref(),
        });
        let (flows, links) = owners(recordings);
        Parts {
            systems: systems.collect(),
            metrics: used(recordings),
            results: all.clone().flat_map(rows).collect(),
            values: values.collect(),
            cdfs: all.flat_map(cdfs).collect(),
            series: series.collect(),
            recordings: recorded.collect(),
            flows,
            links,
        }
    }
}

/// Returns the metrics of all recordings, in the order of reports.
fn used(recordings: &[Recording]) -> Vec<&'static Metric> {
    let names = recordings.iter().flat_map(|one| &one.values);
    let mut used: Vec<&'static Metric> = Vec::new();
    for metric in names.filter_map(|(name, _)| metrics::find(name)) {
        if !used.iter().any(|known| known.name == metric.name) {
            used.push(metric);
        }
    }
    used.sort_by_key(|metric| metrics::position(metric.name));
    used
}

fn rows(one: &Recording) -> impl Iterator<Item = Row> {
    one.values.iter().map(|(metric, value)| Row {
        system: one.name.clone(),
        metric: metric.clone(),
        unit: metrics::find(metric).map_or("1", |m| m.unit),
        mean: *value,
        ci95: [None, None],
        median: None,
        n: 1,
    })
}

fn cdfs(one: &Recording) -> impl Iterator<Item = Cdf> {
    QUANTITIES.into_iter().filter_map(|of| {
        Some(Cdf {
            system: one.name.clone(),
            of,
            quantiles: one.percentiles(of)?.values,
        })
    })
}

/// Returns the flows besides the call, and the links.
fn owners(recordings: &[Recording]) -> (Vec<Flow>, Vec<Link>) {
    let (mut flows, mut links): (Vec<Flow>, Vec<Link>) = (Vec::new(), Vec::new());
    for one in recordings {
        let (own_flows, own_links) = one.owners();
        for name in own_flows {
            if flows.iter().all(|known| known.name != name) {
                flows.push(Flow {
                    name: name.to_owned(),
                    what: format!("series of {}", one.format),
                    via: Vec::new(),
                    start_s: 0.0,
                    stop_s: one.seconds,
                    focus: false,
                });
            }
        }
        for name in own_links {
            if links.iter().all(|known| known.name != name) {
                links.push(Link {
                    name: name.to_owned(),
                    forward: "recorded, sent".to_owned(),
                    backward: "recorded, received".to_owned(),
                });
            }
        }
    }
    (flows, links)
}

/// Formats the metrics of recordings for a terminal, with the notes below.
#[must_use]
pub fn printed_recordings(recordings: &[Recording]) -> String {
    let names = recordings.iter().map(|one| one.name.clone());
    let mut table: Vec<Vec<String>> = vec![[String::new()].into_iter().chain(names).collect()];
    for metric in used(recordings) {
        let value = |one: &Recording| {
            let mut values = one.values.iter();
            let found = values.find(|(name, _)| name == metric.name);
            found.map_or("-".to_owned(), |(_, value)| figure(*value))
        };
        let cells = recordings.iter().map(value);
        table.push([metric.name.to_owned()].into_iter().chain(cells).collect());
    }
    let mut text = aligned(&table);
    for one in recordings {
        let seconds = figure(one.seconds);
        let _ = write!(
            text,
            "\n{}: {} of {seconds} s, {}\n",
            one.name, one.format, one.about
        );
        for note in &one.notes {
            let _ = writeln!(text, "note: {note}");
        }
    }
    text
}

/// Returns the metrics of recordings as JSON.
#[must_use]
pub fn recordings_json(recordings: &[Recording]) -> String {
    let all = recordings.iter().map(|one| {
        let values = one.values.iter();
        let values: Map<String, Value> = values
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect();
        json!({
            "name": one.name, "format": one.format, "about": one.about, "seconds": one.seconds,
            "values": values, "notes": one.notes, "cut": one.cut,
        })
    });
    let mut text = serde_json::to_string_pretty(&all.collect::<Vec<_>>()).expect("plain data");
    text.push('\n');
    text
}
