//! Dumps of `chrome://webrtc-internals`: the results of `getStats` of each connection,
//! about once a second; the page keeps the last 1000.

mod connection;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::{Error as _, MapAccess};

use super::error::ImportError;
use super::fields::{Fields, Fill, skip};
use super::record::Recording;

/// Maximum number of values of a file. Chosen by us: 1000 for each of the 50 statistics
/// below and 200 streams.
const MAX_VALUES: usize = 10_000_000;

/// Statistics that are read (W3C webrtc-stats). The codec is Chromium's own.
const WANTED: &[&str] = &[
    "timestamp",
    "kind",
    "[codec]",
    "bytesReceived",
    "headerBytesReceived",
    "packetsReceived",
    "packetsLost",
    "framesDecoded",
    "framesDropped",
    "freezeCount",
    "totalFreezesDuration",
    "frameHeight",
    "qpSum",
    "jitterBufferDelay",
    "jitterBufferEmittedCount",
    "pliCount",
    "firCount",
    "bytesSent",
    "headerBytesSent",
    "packetsSent",
    "targetBitrate",
    "framesEncoded",
    "qualityLimitationDurations",
    "nominated",
    "state",
    "currentRoundTripTime",
];

/// Content of a dump.
#[derive(Default)]
pub struct Dump {
    user_agent: Option<String>,
    connections: Connections,
}

#[derive(Default)]
struct Connections {
    /// Whether the file has this field at all.
    present: bool,
    all: BTreeMap<String, Connection>,
    values: usize,
}

/// Connection of a page.
#[derive(Default)]
struct Connection {
    url: Option<String>,
    /// By id, such as `IT01V123`.
    reports: BTreeMap<String, Report>,
}

/// Statistics of one object over time.
#[derive(Default)]
struct Report {
    /// W3C type, such as `inbound-rtp`.
    kind: String,
    statistics: BTreeMap<String, Statistic>,
}

#[derive(Default)]
struct Statistic {
    values: Vec<Value>,
    start: String,
    end: String,
}

/// Value of a statistic, as far as it is used.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Number(f64),
    Text(String),
    Other,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RawStatistic {
    #[serde(default)]
    start_time: String,
    #[serde(default)]
    end_time: String,
    #[serde(default)]
    stats_type: String,
    /// An array, as text.
    values: String,
}

impl Fields for Dump {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "UserAgent" => self.user_agent = Some(map.next_value()?),
            _ => {
                self.connections.present = true;
                map.next_value_seed(Fill(&mut self.connections))?;
            }
        }
        Ok(())
    }
}

impl Fields for Connections {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        let connection = self.all.entry(name.to_owned()).or_default();
        let mut reading = Reading {
            connection,
            values: &mut self.values,
        };
        map.next_value_seed(Fill(&mut reading))
    }
}

struct Reading<'a> {
    connection: &'a mut Connection,
    values: &'a mut usize,
}

impl Fields for Reading<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        match name {
            "url" => {
                self.connection.url = Some(map.next_value()?);
                Ok(())
            }
            "stats" => map.next_value_seed(Fill(&mut Statistics {
                reports: &mut self.connection.reports,
                values: self.values,
            })),
            _ => skip(map),
        }
    }
}

struct Statistics<'a> {
    reports: &'a mut BTreeMap<String, Report>,
    values: &'a mut usize,
}

impl Fields for Statistics<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, name: &str, map: &mut A) -> Result<(), A::Error> {
        // Ids may contain the separator; names do not.
        let wanted = name
            .rsplit_once('-')
            .filter(|(_, name)| WANTED.contains(name));
        let Some((id, statistic)) = wanted else {
            return skip(map);
        };
        let raw: RawStatistic = map.next_value()?;
        let values: Vec<serde_json::Value> = serde_json::from_str(&raw.values)
            .map_err(|error| A::Error::custom(format!("values of `{name}`: {error}")))?;
        *self.values += values.len();
        if *self.values > MAX_VALUES {
            return Err(A::Error::custom(format!(
                "there are more than {MAX_VALUES} values"
            )));
        }
        let report = self.reports.entry(id.to_owned()).or_default();
        report.kind = raw.stats_type;
        let statistic = report.statistics.entry(statistic.to_owned()).or_default();
        *statistic = Statistic {
            values: values.into_iter().map(Value::of).collect(),
            start: raw.start_time,
            end: raw.end_time,
        };
        Ok(())
    }
}

impl Value {
    fn of(value: serde_json::Value) -> Value {
        use serde_json::Value as Json;
        let number = |value: &Json| value.as_f64().map(Value::Number);
        match value {
            Json::Number(_) => number(&value).unwrap_or(Value::Other),
            Json::Bool(is) => Value::Number(f64::from(u8::from(is))),
            Json::String(text) => Value::Text(text),
            // Seconds for each reason that limits the encoder.
            Json::Object(reasons) => reasons.get("cpu").and_then(number).unwrap_or(Value::Other),
            _ => Value::Other,
        }
    }
}

impl Report {
    /// Times of the reports: milliseconds since 1970.
    fn times(&self) -> Vec<f64> {
        let known = self.statistics.get("timestamp").into_iter();
        let values = known.flat_map(|statistic| &statistic.values);
        let numbers = values.filter_map(|value| match value {
            Value::Number(ms) => Some(*ms),
            _ => None,
        });
        numbers.collect()
    }

    /// Returns the position of the first value of a statistic among the times. A statistic
    /// that starts or ends at another time than the rest has fewer values.
    fn first(&self, statistic: &Statistic) -> Option<isize> {
        let times = self.statistics.get("timestamp")?;
        let missing = times.values.len() as isize - statistic.values.len() as isize;
        match (statistic.end == times.end, statistic.start == times.start) {
            (true, _) => Some(missing),
            (false, true) => Some(0),
            // The times of its values are unknown.
            (false, false) => None,
        }
    }

    fn value(&self, name: &str, at: usize) -> Option<&Value> {
        let statistic = self.statistics.get(name)?;
        let index = usize::try_from(at as isize - self.first(statistic)?).ok()?;
        statistic.values.get(index)
    }

    /// Returns a number of the report at this position.
    fn number(&self, name: &str, at: usize) -> Option<f64> {
        match self.value(name, at)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the last text of a statistic.
    fn text(&self, name: &str) -> Option<&str> {
        let last = self.statistics.get(name)?.values.iter().rev();
        let mut texts = last.filter_map(|value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.next()
    }
}

impl Dump {
    /// Whether the file is a dump.
    pub fn is_some(&self) -> bool {
        self.connections.present
    }

    /// Returns a recording of each connection with media.
    pub fn recordings(self, place: &str, name: &str) -> Result<Vec<Recording>, ImportError> {
        let browser = self.user_agent.as_deref().map(browser);
        let all = self.connections.all.into_iter();
        let found = all.filter_map(|(id, own)| Some((id, own.recording(browser.as_deref())?)));
        let mut found: Vec<(String, Recording)> = found.collect();
        if found.is_empty() {
            return Err(ImportError::new(
                place,
                "no connection in this dump has statistics of media",
                "open chrome://webrtc-internals before the call begins, and save the dump before the \
                 page of the call is closed",
            ));
        }
        if let [(_, only)] = &mut found[..] {
            name.clone_into(&mut only.name);
        } else {
            for (id, one) in &mut found {
                one.name = format!("{name} {id}");
            }
        }
        Ok(found.into_iter().map(|(_, one)| one).collect())
    }
}

/// Returns the browser of a user agent, with its version: `Chrome/156.0.0.0`.
fn browser(user_agent: &str) -> String {
    let mut words = user_agent.split_whitespace();
    let known = words.find(|word| word.contains("Chrome/") || word.contains("Edg/"));
    known.unwrap_or(user_agent).to_owned()
}
