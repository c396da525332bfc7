//! The fields of a scenario file, as written. [`super::Scenario`] is the
//! checked form. `docs/experiment/scenarios.md` explains every field, and a test
//! compares the two.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::named::Named;
use super::quantity::{Share, Size, Speed, Time};
use crate::statistics::Centre;

/// A text with its place.
pub type Text = Spanned<String>;

/// The whole file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    pub title: String,
    #[serde(default)]
    pub about: String,
    pub duration: Spanned<Time>,
    pub measure_from: Option<Spanned<Time>>,
    pub seeds: Option<Spanned<u32>>,
    #[serde(default)]
    pub centre: Centre,
    pub topology: Option<Topology>,
    pub links: Spanned<Named<Spanned<Link>>>,
    pub flows: Spanned<Named<Spanned<Flow>>>,
    pub systems: Option<Spanned<Vec<Text>>>,
    #[serde(default)]
    pub system: Named<System>,
    pub baseline: Option<Text>,
    pub metrics: Option<Vec<Text>>,
    #[serde(default)]
    pub vary: Vec<Vary>,
    #[serde(default)]
    pub published: Vec<Published>,
}

/// How the links are joined.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// One bottleneck that all flows share.
    Dumbbell,
    /// Links beside each other: a call can take all of them.
    Parallel,
    /// Links one behind the other: a flow crosses all of them, or some.
    ParkingLot,
}

/// A link: its SPEC, keys that change it, and the way back. A text in the
/// place of the table is its SPEC.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Link {
    pub spec: Option<Text>,
    pub rate: Option<Text>,
    pub trace: Option<Text>,
    pub delay: Option<Text>,
    pub jitter: Option<Text>,
    pub loss: Option<Text>,
    pub burst_loss: Option<Text>,
    pub queue: Option<Text>,
    pub aqm: Option<Text>,
    pub ecn: Option<Text>,
    pub burst: Option<Text>,
    pub back: Option<Text>,
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub steps_back: Vec<Step>,
}

/// From `at` on the link has this capacity, delay and loss, or what it had.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Step {
    pub at: Spanned<Time>,
    pub rate: Option<Speed>,
    pub delay: Option<Time>,
    pub loss: Option<Spanned<Share>>,
}

/// A flow; which fields it may have depends on its kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Flow {
    pub kind: Spanned<Kind>,
    pub start: Option<Spanned<Time>>,
    pub stop: Option<Spanned<Time>>,
    pub via: Option<Spanned<Vec<Text>>>,
    pub direction: Option<Direction>,
    pub access_delay: Option<Spanned<Time>>,
    // Calls.
    pub system: Option<Text>,
    pub media: Option<Media>,
    pub streams: Option<Spanned<u32>>,
    pub max_rate: Option<Spanned<Speed>>,
    pub encoder: Option<Spanned<Encoder>>,
    pub resolution: Option<Text>,
    pub degradation: Option<Text>,
    pub frame_rate: Option<Spanned<u32>>,
    pub sound: Option<Spanned<Speed>>,
    pub weight: Option<Spanned<f64>>,
    // TCP.
    pub algorithm: Option<Text>,
    pub connections: Option<Spanned<u32>>,
    pub ecn: Option<Spanned<bool>>,
    pub size: Option<Spanned<Size>>,
    pub sizes: Option<Spanned<[Size; 2]>>,
    pub pause: Option<Spanned<Time>>,
    // UDP.
    pub rate: Option<Spanned<Speed>>,
    pub packet: Option<Spanned<Size>>,
}

/// What a flow carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    Call,
    Tcp,
    Udp,
}

/// Which way a flow's data goes over its links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    #[default]
    Forward,
    Backward,
}

/// Who films in a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Media {
    #[default]
    OneWay,
    BothWays,
}

/// What makes the frames of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Encoder {
    /// The model of VP8.
    #[default]
    Vp8,
    /// The model of H.264.
    H264,
    /// The synthetic codec of RFC 8593, for the RMCAT cases.
    Rfc8593,
}

/// A system under a name of its own.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct System {
    pub scheduler: Option<Text>,
    pub without: Option<Text>,
    pub protection: Option<Text>,
    pub controller: Option<Text>,
    pub links: Option<Spanned<Vec<Text>>>,
    /// Taken out before the file is read, and laid over it.
    #[expect(dead_code, reason = "a `set` that is no table is refused here")]
    pub set: Option<BTreeMap<String, IgnoredAny>>,
}

/// Every system is run with each of these values.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Vary {
    pub key: Spanned<Keys>,
    pub values: Spanned<Vec<Spanned<Scalar>>>,
    #[serde(default)]
    pub label: String,
}

impl Vary {
    /// How results call a value: behind its label.
    pub fn words(&self, value: &Scalar) -> String {
        let words = format!("{} {}", self.label, value.text());
        words.trim_start().to_owned()
    }

    pub fn keys(&self) -> &[String] {
        match self.key.get_ref() {
            Keys::One(key) => std::slice::from_ref(key),
            Keys::Many(keys) => keys,
        }
    }
}

/// What varies: a dotted path, or several that have the same value.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub enum Keys {
    One(String),
    Many(Vec<String>),
}

/// A value as TOML has it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(from = "Written")]
pub enum Scalar {
    /// Between quotes.
    Text(String),
    /// A number or truth value, as TOML writes it.
    Literal(String),
}

impl Scalar {
    /// What stands in the file, without quotes.
    pub fn text(&self) -> &str {
        match self {
            Scalar::Text(text) | Scalar::Literal(text) => text,
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Truth(bool),
    Whole(i64),
    Decimal(f64),
    Text(String),
}

impl From<Written> for Scalar {
    fn from(written: Written) -> Scalar {
        match written {
            Written::Truth(truth) => Scalar::Literal(truth.to_string()),
            Written::Whole(number) => Scalar::Literal(number.to_string()),
            // With a point also where nothing stands behind it.
            Written::Decimal(number) => Scalar::Literal(format!("{number:?}")),
            Written::Text(text) => Scalar::Text(text),
        }
    }
}

/// A value that somebody else has measured.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Published {
    pub system: Text,
    pub metric: Text,
    pub value: Option<Spanned<f64>>,
    pub low: Option<Spanned<f64>>,
    pub high: Option<Spanned<f64>>,
    pub tolerance: Option<Spanned<Share>>,
    pub relative_to: Option<Text>,
    pub source: String,
}
