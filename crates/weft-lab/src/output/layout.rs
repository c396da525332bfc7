//! Layout of `report.json`, which the page reads (`web/report/data.ts`).

use std::collections::BTreeMap;

use serde::Serialize;

use super::conditions::Conditions;
use crate::measure::metrics::Metric;
use crate::measure::series::Series;
use crate::outcome::{Answer, Cdf, Compared, Difference, Profile, Row, SystemCheck, Worse};
use crate::recording::Format;

/// Version of the data's layout, incremented by changes that the page must know.
pub const SCHEMA: u32 = 1;

/// More than fifteen fields: the layout of `report.json`, which the page reads.
#[derive(Serialize)]
pub struct Data<'a> {
    pub schema: u32,
    pub scenario: About<'a>,
    pub engine: &'static str,
    pub version: &'static str,
    pub conditions: &'a Conditions,
    pub notes: Vec<String>,
    pub seeds: Vec<u64>,
    pub traces: Vec<&'a str>,
    pub wanted: usize,
    pub finished: usize,
    pub failed: Vec<String>,
    pub events: u64,
    pub systems: Vec<System<'a>>,
    pub metrics: Vec<&'static Metric>,
    pub key_metrics: &'static [&'static str],
    pub answers: Vec<Answer>,
    pub results: Vec<Row>,
    /// By system and metric: the value of each seed.
    pub values: BTreeMap<String, BTreeMap<String, Vec<Option<f64>>>>,
    pub differences: Vec<Difference>,
    pub published: Vec<Compared>,
    pub worse_than_single: Vec<Worse>,
    pub selfcheck: Vec<SystemCheck>,
    pub cdfs: Vec<Cdf>,
    pub profiles: Vec<Profile>,
    /// Series of seed 1, by system.
    pub series: BTreeMap<String, Series>,
    /// Series of further seeds, each by system.
    pub more_series: BTreeMap<u64, BTreeMap<String, Series>>,
    /// Systems that were read from files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub recordings: Vec<Recorded<'a>>,
}

#[derive(Serialize)]
pub struct About<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub about: &'a str,
    pub file: &'a str,
    pub text: &'a str,
    pub duration_s: f64,
    pub measure_from_s: f64,
    pub centre: crate::statistics::Centre,
    pub baseline: Option<&'a str>,
    pub metrics: &'a [String],
    pub links: Vec<Link>,
    pub flows: Vec<Flow>,
}

#[derive(Serialize)]
pub struct Link {
    pub name: String,
    pub forward: String,
    pub backward: String,
}

#[derive(Serialize)]
pub struct Flow {
    pub name: String,
    pub what: String,
    pub via: Vec<String>,
    pub start_s: f64,
    pub stop_s: f64,
    pub focus: bool,
}

#[derive(Serialize)]
pub struct System<'a> {
    pub name: &'a str,
    pub system: &'a str,
    pub case: &'a [(String, String)],
}

/// System that was read from a file.
#[derive(Serialize)]
pub struct Recorded<'a> {
    pub name: &'a str,
    pub format: Format,
    pub about: &'a str,
    pub seconds: f64,
    pub notes: &'a [String],
    /// Place and reason of a premature end of the file.
    pub cut: Option<&'a str>,
}
