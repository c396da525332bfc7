//! Links in a scenario file: the SPEC, keys that change it, steps in time, the backward
//! direction, and the medium of a station.

use serde::Deserialize;
use toml::Spanned;

use super::named::Named;
use super::place::{ScenarioError, Source, Text};
use super::quantity::{Share, Speed, Time};
use super::scalar::number;
use crate::names::unknown_name;

/// Arrangement of the links.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topology {
    /// One bottleneck that all flows share.
    Dumbbell,
    /// Parallel links: a call can take all of them.
    Parallel,
    /// Links in series: a flow crosses all of them, or some.
    ParkingLot,
}

/// Link: its SPEC, keys that change it, and the backward direction; or a station of a
/// medium. A text instead of a table is its SPEC.
///
/// More than fifteen fields: one for each key of a link's table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Link {
    pub spec: Option<Text>,
    pub medium: Option<Text>,
    pub standard: Option<Text>,
    pub guard: Option<Text>,
    pub interference: Option<Text>,
    pub busy_period: Option<Text>,
    #[serde(default, deserialize_with = "number")]
    pub attempts: Option<Text>,
    pub obss: Option<Text>,
    pub snr: Option<Text>,
    #[serde(default, deserialize_with = "number")]
    pub cqi: Option<Text>,
    #[serde(default, deserialize_with = "number")]
    pub rank: Option<Text>,
    pub motion: Option<Text>,
    pub handovers: Option<Text>,
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
    pub weight: Option<Spanned<f64>>,
    pub metered: Option<Spanned<bool>>,
    pub backup: Option<Spanned<bool>>,
    pub back: Option<Text>,
    pub place: Option<Text>,
    #[serde(default)]
    pub steps: Vec<Step>,
    #[serde(default)]
    pub steps_back: Vec<Step>,
}

/// Capacity, delay and loss of the link from time `at`; missing values do not change.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Step {
    pub at: Spanned<Time>,
    pub rate: Option<Speed>,
    pub delay: Option<Time>,
    pub loss: Option<Spanned<Share>>,
}

/// Returns the positions of links, each of which may be named once.
pub fn positions(
    source: &Source,
    known: &Named<Spanned<Link>>,
    names: &[Text],
) -> Result<Vec<usize>, ScenarioError> {
    let mut found = Vec::new();
    for name in names {
        let text = name.get_ref();
        let Some(at) = known.position(text) else {
            let message = unknown_name("there is no link", text, known.names());
            return Err(source.error(name.span(), message));
        };
        if found.contains(&at) {
            let message = format!("link `{text}` is named twice: keep one");
            return Err(source.error(name.span(), message));
        }
        found.push(at);
    }
    Ok(found)
}
