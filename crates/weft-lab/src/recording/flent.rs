//! Results of flent: series of rates and delays that it measured with other programs.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::MapAccess;

use super::error::ImportError;
use super::fields::{Fields, skip};
use super::record::{Format, Recording};
use super::track::{Owner, Span, Track};
use super::values;
use crate::measure::run::Value;
use crate::statistics::mean;

/// Content of a file.
#[derive(Default)]
pub struct Results {
    metadata: Option<Metadata>,
    /// Seconds since the start.
    times: Vec<f64>,
    /// By name.
    series: BTreeMap<String, Vec<Option<f64>>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct Metadata {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    step_size: Option<f64>,
    #[serde(default)]
    series_meta: BTreeMap<String, SeriesMetadata>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
struct SeriesMetadata {
    #[serde(default)]
    units: Option<String>,
}

impl Fields for Results {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "metadata" => self.metadata = Some(map.next_value()?),
            "x_values" => self.times = map.next_value()?,
            "results" => self.series = map.next_value()?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// Returns the quantity of a series; `None` for those that the report does not support,
/// such as queue counters.
fn quantity(name: &str, units: Option<&str>) -> Option<(&'static str, &'static str)> {
    match units {
        Some("Mbits/s" | "Mbit/s") => Some(("rate_mbps", "Mbit/s")),
        Some("ms") if is_round_trip(name) => Some(("rtt_ms", "ms")),
        Some(_) => None,
        // Files of early versions lack units; the names of their tests are fixed.
        None if is_round_trip(name) => Some(("rtt_ms", "ms")),
        None if name.starts_with("TCP ") && !name.contains("::") => Some(("rate_mbps", "Mbit/s")),
        None => None,
    }
}

fn is_round_trip(name: &str) -> bool {
    name.starts_with("Ping (ms)")
}

impl Results {
    /// Whether the file is from flent.
    pub fn is_some(&self) -> bool {
        self.metadata.is_some() && !self.series.is_empty()
    }

    /// Returns the recording.
    pub fn recording(self, place: &str, name: &str) -> Result<Recording, ImportError> {
        let metadata = self.metadata.unwrap_or_default();
        let (mut tracks, mut unknown) = (Vec::new(), Vec::new());
        // A smaller step would only take memory.
        let step = metadata.step_size.unwrap_or(0.2).clamp(0.05, 60.0);
        for (name, values) in self.series {
            let units = metadata.series_meta.get(&name);
            let units = units.and_then(|meta| meta.units.as_deref());
            let Some(quantity) = quantity(&name, units) else {
                unknown.push(name);
                continue;
            };
            let points = self.times.iter().zip(values);
            let spans = points.filter_map(|(at, value)| {
                Some(Span {
                    from: *at,
                    until: at + step,
                    value: value?,
                })
            });
            let spans = spans.collect();
            tracks.extend(Track::new(quantity, Owner::Flow(name), spans));
        }
        if tracks.is_empty() {
            return Err(ImportError::new(
                place,
                "it has no series of rates or round-trip times",
                "give the file of a finished test, such as of `flent rrul`",
            ));
        }
        let last = self.times.last().copied().unwrap_or(0.0);
        let mut notes = vec!["flent measures no call: each series is a flow of its own".to_owned()];
        if !unknown.is_empty() {
            notes.push(format!(
                "series of other quantities are left out: {}",
                unknown.join(", ")
            ));
        }
        let parts = [metadata.name, metadata.title, metadata.host];
        let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
        Ok(Recording {
            name: name.to_owned(),
            format: Format::Flent,
            about: parts.collect::<Vec<_>>().join(", "),
            seconds: last + step,
            step,
            values: values::sorted(of_tracks(&tracks)),
            tracks,
            freezes: None,
            latencies: Vec::new(),
            notes,
            cut: None,
        })
    }
}

/// Returns the rates of all series together and of each one, and also their round-trip
/// times.
fn of_tracks(tracks: &[Track]) -> Vec<Value> {
    let mut values = Vec::new();
    let of = |quantity: &'static str| {
        let tracks = tracks
            .iter()
            .filter(move |track| track.quantity == quantity);
        tracks.filter_map(|track| Some((track.owner.name(""), track.mean()?)))
    };
    let each = |metric: &str, (name, value): (&str, f64)| (format!("{metric}.{name}"), value);
    let rates: Vec<(&str, f64)> = of("rate_mbps").collect();
    if !rates.is_empty() {
        let sum = rates.iter().map(|(_, rate)| rate).sum();
        values.push(("throughput_mbps".to_owned(), sum));
    }
    values.extend(rates.into_iter().map(|rate| each("throughput_mbps", rate)));
    let rtts: Vec<(&str, f64)> = of("rtt_ms").collect();
    let together = mean(rtts.iter().map(|(_, rtt)| *rtt));
    values.extend(together.map(|rtt| ("rtt_ms_mean".to_owned(), rtt)));
    values.extend(rtts.into_iter().map(|rtt| each("rtt_ms_mean", rtt)));
    values
}
