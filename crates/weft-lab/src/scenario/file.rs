//! Fields of a scenario file, as written. [`super::Scenario`] is the checked form.
//! `docs/experiment/scenarios.md` explains every field, and a test compares the two.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::flows::Flow;
use super::links::{Link, Topology};
use super::media::Medium;
use super::named::Named;
use super::place::Text;
use super::quantity::{Share, Time};
use super::scalar::Scalar;
use crate::statistics::Centre;

/// The whole file.
///
/// More than fifteen fields: one for each key at the top of a file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct File {
    pub title: String,
    #[serde(default)]
    pub about: String,
    pub duration: Spanned<Time>,
    pub measure_from: Option<Spanned<Time>>,
    #[serde(default)]
    pub sections: Vec<Spanned<Time>>,
    pub seeds: Option<Spanned<u32>>,
    #[serde(default)]
    pub centre: Centre,
    pub topology: Option<Topology>,
    #[serde(default)]
    pub media: Named<Spanned<Medium>>,
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

/// A system with its own name. More than fifteen fields: they are the keys of one table of
/// a file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct System {
    pub scheduler: Option<Text>,
    pub prefer: Option<Text>,
    pub without: Option<Spanned<OneOrMore>>,
    pub protection: Option<Text>,
    pub controller: Option<Text>,
    pub level: Option<Text>,
    pub allocator: Option<Text>,
    pub reports: Option<Text>,
    pub receiver: Option<Text>,
    pub keyframe_patience: Option<Spanned<Time>>,
    pub reordering: Option<Text>,
    pub packet_buffer: Option<Spanned<u32>>,
    pub frame_buffer: Option<Spanned<u32>>,
    pub repair_decoding: Option<Spanned<Time>>,
    pub links: Option<Spanned<Vec<Text>>>,
    /// Removed before the file is read, and merged into it.
    #[expect(dead_code, reason = "a `set` that is no table is refused here")]
    pub set: Option<BTreeMap<String, IgnoredAny>>,
}

/// Set of values; every system is run with each of them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Vary {
    pub key: Spanned<OneOrMore>,
    pub values: Spanned<Vec<Spanned<Scalar>>>,
    #[serde(default)]
    pub label: String,
}

impl Vary {
    /// Returns the name of a value in results: its label with the value.
    pub fn words(&self, value: &Scalar) -> String {
        Vary::words_of(&self.label, value)
    }

    /// Returns the name of a value under this label.
    pub fn words_of(label: &str, value: &Scalar) -> String {
        format!("{label} {}", value.text()).trim_start().to_owned()
    }

    pub fn keys(&self) -> &[String] {
        self.key.get_ref().as_slice()
    }
}

/// A text, or a list of texts.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a text or a list of texts")]
pub enum OneOrMore {
    One(String),
    Many(Vec<String>),
}

impl OneOrMore {
    pub fn as_slice(&self) -> &[String] {
        match self {
            OneOrMore::One(text) => std::slice::from_ref(text),
            OneOrMore::Many(texts) => texts,
        }
    }
}

/// A value measured by others.
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
    pub relative_metric: Option<Text>,
    pub by: Option<Spanned<By>>,
    pub source: String,
}

/// Kind of comparison of a value with another.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// The value divided by the other.
    #[default]
    Ratio,
    /// The value minus the other.
    Difference,
}
