//! Media that links share, as a scenario writes them.

use serde::Deserialize;

use super::place::Text;

/// A medium that links share.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Medium {
    pub kind: Text,
    pub standard: Option<Text>,
    pub guard: Option<Text>,
    pub ap_queue: Option<Text>,
    pub queue: Option<Text>,
    pub aqm: Option<Text>,
    pub ecn: Option<Text>,
    pub capture: Option<Text>,
    pub interference: Option<Text>,
    pub delay: Option<Text>,
}

impl Medium {
    /// Those of the cell that are given, with their values.
    pub fn keys(&self) -> Vec<(&'static str, &Text)> {
        let keys = [
            ("standard", &self.standard),
            ("guard", &self.guard),
            ("ap-queue", &self.ap_queue),
            ("queue", &self.queue),
            ("aqm", &self.aqm),
            ("ecn", &self.ecn),
            ("capture", &self.capture),
            ("interference", &self.interference),
            ("delay", &self.delay),
        ];
        let given = keys.into_iter();
        given
            .filter_map(|(key, text)| Some((key, text.as_ref()?)))
            .collect()
    }
}
