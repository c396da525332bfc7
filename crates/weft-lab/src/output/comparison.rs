//! Comparison of the results in two folders, such as those of two versions or two
//! machines. Systems appear side by side with the names of their folders, and the
//! differences of the second folder are shown seed by seed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::measure::metrics;
use crate::outcome::{Answer, Contrast, Sides, sentences, verdict};
use crate::statistics::{Centre, paired};

/// One of two folders, and the name of its results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Side {
    /// Suffix of the names of its systems.
    pub name: String,
    /// Folder with the results of a run.
    pub folder: PathBuf,
}

/// Error of a comparison of two folders.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// Both have the same name.
    #[error("both are called `{0}`: give each a name, as in before=DIR after=DIR")]
    SameName(String),
    /// Their results have no system, metric and seed in common.
    #[error(
        "{first} and {second} have nothing in common: {first} has the systems {first_has}, {second} \
         has {second_has}: lay results of the same scenario over each other"
    )]
    NothingInCommon {
        /// Name of the first side.
        first: String,
        /// Its systems, between commas.
        first_has: String,
        /// Name of the second side.
        second: String,
        /// Its systems, between commas.
        second_has: String,
    },
}

impl Side {
    /// Parses `NAME=DIR`, or a folder that is also the name.
    #[must_use]
    pub fn of(text: &str) -> Side {
        let named = text
            .split_once('=')
            .filter(|(name, folder)| !name.is_empty() && !name.contains('/') && !folder.is_empty());
        // A folder may itself have such a name.
        if let Some((name, folder)) = named.filter(|_| !Path::new(text).is_dir()) {
            return Side {
                name: name.to_owned(),
                folder: PathBuf::from(folder),
            };
        }
        let folder = PathBuf::from(text);
        let own = folder.file_name().and_then(|name| name.to_str());
        Side {
            name: own.unwrap_or(text).to_owned(),
            folder,
        }
    }

    /// Returns the name of a system of this side.
    fn system(&self, system: &str) -> String {
        format!("{system} · {}", self.name)
    }
}

/// Results of a side, with the new names of its systems.
struct Renamed {
    data: Map<String, Value>,
    /// Old and new names of the systems.
    names: Vec<(String, String)>,
}

/// Returns the page's data for both folders, as JSON.
///
/// # Errors
/// If they have nothing in common.
pub fn data(sides: &[Side; 2], texts: &[String; 2]) -> Result<String, ComparisonError> {
    let [first, second] = sides;
    if first.name == second.name {
        return Err(ComparisonError::SameName(first.name.clone()));
    }
    let both = [renamed(first, &texts[0]), renamed(second, &texts[1])];
    let differences = differences(&both);
    if differences.is_empty() {
        let has = |side: &Renamed| {
            let names: Vec<&str> = side.names.iter().map(|(old, _)| old.as_str()).collect();
            names.join(", ")
        };
        return Err(ComparisonError::NothingInCommon {
            first: first.name.clone(),
            first_has: has(&both[0]),
            second: second.name.clone(),
            second_has: has(&both[1]),
        });
    }
    let answers: Vec<Answer> = answer(&both).into_iter().collect();
    let about = |(side, renamed): (&Side, &Renamed)| {
        let mut about = Map::new();
        about.insert("name".to_owned(), json!(side.name));
        for key in ["version", "engine", "conditions", "seeds", "scenario"] {
            about.insert(key.to_owned(), renamed.data[key].clone());
        }
        Value::Object(about)
    };
    let about: Vec<Value> = sides.iter().zip(&both).map(about).collect();
    let [mut data, other] = both.map(|side| side.data);
    for (key, mine) in other {
        // A side from another version may lack it.
        let theirs = data.remove(&key).unwrap_or(Value::Null);
        let joined = joined(&key, theirs, mine);
        data.insert(key, joined);
    }
    data["scenario"]["baseline"] = Value::Null;
    data.insert("answers".to_owned(), json!(answers));
    data.insert("differences".to_owned(), Value::Array(differences));
    data.insert("sides".to_owned(), Value::Array(about));
    Ok(Value::Object(data).to_string())
}

/// Combines a field of both sides.
fn joined(key: &str, first: Value, second: Value) -> Value {
    match (key, first, second) {
        // Each side keeps its own conditions, and the page starts with those of the
        // second.
        ("scenario" | "conditions" | "key_metrics" | "schema" | "centre", _, second) => second,
        ("more_series", Value::Object(mut one), Value::Object(two)) => {
            for (seed, series) in two {
                let known = one.remove(&seed).unwrap_or(Value::Null);
                one.insert(seed, joined("series", known, series));
            }
            Value::Object(one)
        }
        (_, Value::Object(mut one), Value::Object(two)) => {
            one.extend(two);
            Value::Object(one)
        }
        ("metrics" | "seeds" | "traces" | "notes", Value::Array(one), Value::Array(two)) => {
            let new = two.into_iter().filter(|each| !one.contains(each));
            let new: Vec<Value> = new.collect();
            Value::Array(one.into_iter().chain(new).collect())
        }
        (_, Value::Array(one), Value::Array(two)) => one.into_iter().chain(two).collect(),
        (_, Value::Number(one), Value::Number(two)) => {
            json!(one.as_u64().unwrap_or(0) + two.as_u64().unwrap_or(0))
        }
        (_, Value::String(one), Value::String(two)) if one != two => {
            Value::String(format!("{one} and {two}"))
        }
        (_, _, second) => second,
    }
}

/// Renames the systems; the layout of the text has been checked.
fn renamed(side: &Side, text: &str) -> Renamed {
    let read = serde_json::from_str::<Map<String, Value>>(text);
    let mut data = read.unwrap_or_default();
    let mut names = Vec::new();
    for system in array(&mut data, "systems") {
        let [name, kind] = ["name", "system"].map(|key| text_of(system, key));
        // The varied values follow it in brackets.
        let new = name.replacen(&kind, &side.system(&kind), 1);
        system["name"] = json!(new);
        system["system"] = json!(side.system(&kind));
        names.push((name, new));
    }
    let new = |old: &str| {
        let found = names.iter().find(|(known, _)| known == old);
        found.map_or_else(|| side.system(old), |(_, new)| new.clone())
    };
    let rows = [
        "results",
        "published",
        "worse_than_single",
        "selfcheck",
        "cdfs",
        "profiles",
    ];
    for key in rows {
        for row in array(&mut data, key) {
            row["system"] = json!(new(&text_of(row, "system")));
        }
    }
    let keyed = |of: &mut Value| {
        let Value::Object(all) = of else { return };
        let old = std::mem::take(all);
        all.extend(old.into_iter().map(|(name, value)| (new(&name), value)));
    };
    for key in ["values", "series"] {
        if let Some(of) = data.get_mut(key) {
            keyed(of);
        }
    }
    if let Some(Value::Object(seeds)) = data.get_mut("more_series") {
        seeds.values_mut().for_each(keyed);
    }
    for key in ["failed", "notes"] {
        for note in array(&mut data, key) {
            *note = json!(format!("{}: {}", side.name, note.as_str().unwrap_or("")));
        }
    }
    Renamed { data, names }
}

/// Returns the differences of the second side for each system that both have.
fn differences(both: &[Renamed; 2]) -> Vec<Value> {
    let [one, other] = both;
    let centre = &other.data["scenario"]["centre"];
    let centre: Centre = serde_json::from_value(centre.clone()).unwrap_or_default();
    let mut found = Vec::new();
    for (old, here) in &other.names {
        let Some((_, there)) = one.names.iter().find(|(name, _)| name == old) else {
            continue;
        };
        let of = |side: &Renamed, name: &str| {
            let values = &side.data["values"][name];
            values.as_object().cloned().unwrap_or_default()
        };
        let (mine, theirs) = (of(other, here), of(one, there));
        let common: BTreeSet<&String> = mine.keys().filter(|m| theirs.contains_key(*m)).collect();
        for metric in common {
            let about = metrics::find(metric);
            let estimate = paired(&seeds(&mine, metric), &seeds(&theirs, metric), centre);
            let (Some(about), Some(estimate)) = (about, estimate) else {
                continue;
            };
            let (low, high) = estimate.interval.unzip();
            found.push(json!({
                "system": here, "baseline": there, "metric": metric, "unit": about.unit,
                "mean": estimate.centre, "ci95": [low, high],
                "verdict": verdict(&estimate, about.better), "n": estimate.n,
            }));
        }
    }
    found
}

/// Returns the values of a metric by seed.
fn seeds(of: &Map<String, Value>, metric: &str) -> Vec<Option<f64>> {
    let values = of.get(metric).and_then(Value::as_array);
    values.into_iter().flatten().map(Value::as_f64).collect()
}

/// Metrics that decide, in the order of the sentences.
const ASKED: [&str; 3] = ["goodput_mbps", "freeze_s", "e2e_ms_p95"];

/// Returns the effect of the second side on the call over all links: on `weft`, otherwise
/// on the first common system that is not a call over one link.
fn answer(both: &[Renamed; 2]) -> Option<Answer> {
    let [one, other] = both;
    let there = |old: &str| one.names.iter().find(|(name, _)| name == old);
    let common = || {
        let names = other.names.iter();
        names.filter_map(|(old, here)| Some((old, here, &there(old)?.1)))
    };
    let is_single = |old: &str| old.contains('@') || old.starts_with("single");
    let found = common().find(|(old, ..)| *old == "weft");
    let found = found.or_else(|| common().find(|(old, ..)| !is_single(old)));
    let (_, here, there) = found.or_else(|| common().next())?;
    let of = |side: &Renamed, name: &str| side.data["values"][name].as_object().cloned();
    let (mine, theirs) = (of(other, here)?, of(one, there)?);
    let about = &other.data["scenario"];
    let centre = serde_json::from_value(about["centre"].clone()).unwrap_or_default();
    let contrasts = ASKED.iter().filter_map(|metric| {
        let values = (seeds(&mine, metric), seeds(&theirs, metric));
        Contrast::of(metric, there.clone(), &values.0, &values.1, centre)
    });
    let number = |key: &str| about[key].as_f64().unwrap_or_default();
    let sides = Sides {
        subject: here,
        other: there,
        seconds: number("duration_s") - number("measure_from_s"),
        centre,
    };
    Some(Answer {
        case: String::new(),
        sentences: sentences(&sides, &contrasts.collect::<Vec<_>>()),
    })
}

fn array<'a>(data: &'a mut Map<String, Value>, key: &str) -> impl Iterator<Item = &'a mut Value> {
    let found = data.get_mut(key).and_then(Value::as_array_mut);
    found.into_iter().flatten()
}

fn text_of(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or("").to_owned()
}

#[cfg(test)]
mod tests;
