//! A recording: quantities over time and metrics, with notes.

use std::fmt;

use serde::Serialize;

use super::track::{Owner, Track};
use crate::measure::percentiles::Percentiles;
use crate::measure::run::Value;
use crate::measure::series::{Frozen, Series};

/// Format of a recording's file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Dump of `chrome://webrtc-internals`.
    WebrtcInternals,
    /// Packets as pcap or pcapng.
    Capture,
    /// Events of weft as qlog.
    Qlog,
    /// Results of flent.
    Flent,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::WebrtcInternals => "webrtc-internals",
            Format::Capture => "capture",
            Format::Qlog => "qlog",
            Format::Flent => "flent",
        })
    }
}

/// Call or other measurement, as described by one file. Times are in seconds since its
/// start.
#[derive(Clone, Debug)]
pub struct Recording {
    /// Name of the system in the report.
    pub name: String,
    /// Format of the file.
    pub format: Format,
    /// Description for display: program, address, number of packets.
    pub about: String,
    /// Recorded time, seconds.
    pub seconds: f64,
    /// Natural interval of the values, in seconds.
    pub step: f64,
    /// Quantities over time.
    pub tracks: Vec<Track>,
    /// Metrics of the whole recording.
    pub values: Vec<Value>,
    /// Freezes, if the file shows them; they have no owner yet.
    pub freezes: Option<Frozen>,
    /// Latencies from capture to display, milliseconds, if the file shows them.
    pub latencies: Vec<f64>,
    /// Notes on what the file lacks, and on how it was read.
    pub notes: Vec<String>,
    /// Place and reason of a premature end of the file.
    pub cut: Option<String>,
}

impl Recording {
    /// Returns the time series with a value every `step` seconds. `call` is the name of the
    /// flow of the call.
    #[must_use]
    pub fn series(&self, step: f64, call: &str) -> Series {
        let rows = (self.seconds / step).ceil().max(1.0) as usize;
        let mut series = Series {
            t: (1..=rows).map(|row| row as f64 * step).collect(),
            ..Series::default()
        };
        for track in &self.tracks {
            let of = track.owner.name(call);
            series.add(track.quantity, of, track.unit, track.sampled(rows, step));
        }
        let freezes = self.freezes.iter().map(|frozen| Frozen {
            of: call.to_owned(),
            ..frozen.clone()
        });
        series.freezes = freezes.collect();
        series
    }

    /// Returns the percentiles of a quantity of the call, from values every [`Recording::step`].
    #[must_use]
    pub fn percentiles(&self, quantity: &str) -> Option<Percentiles> {
        if quantity == "e2e_ms" {
            return Percentiles::of(self.latencies.clone());
        }
        let rows = (self.seconds / self.step).ceil().max(1.0) as usize;
        let mut tracks = self.tracks.iter();
        let track = tracks.find(|t| t.quantity == quantity && t.owner == Owner::Call)?;
        let values = track.sampled(rows, self.step);
        Percentiles::of(values.into_iter().flatten().collect())
    }

    /// Returns the names of the flows besides the call, and of the links.
    #[must_use]
    pub fn owners(&self) -> (Vec<&str>, Vec<&str>) {
        let (mut flows, mut links) = (Vec::new(), Vec::new());
        for track in &self.tracks {
            let (list, name) = match &track.owner {
                Owner::Call => continue,
                Owner::Flow(name) => (&mut flows, name.as_str()),
                Owner::Link(name) => (&mut links, name.strip_suffix("-back").unwrap_or(name)),
            };
            if !list.contains(&name) {
                list.push(name);
            }
        }
        (flows, links)
    }
}
