//! Keys and values of a link, from its SPEC and its table.

use std::ops::Range;

use weft_links::{LinkSpec, SpecError};
use weft_session::{Policy, PolicyError};

use crate::names::unknown_name;

use super::links::Link;
use super::place::{ScenarioError, Source, Text};

/// Settings of a link, in each direction.
pub struct Written<'a> {
    pub source: &'a Source,
    pub name: &'a str,
    /// Location of all settings in the file.
    pub whole: Range<usize>,
    pub there: Items,
    pub back: Items,
}

/// Keys and values of a SPEC with their locations, in order.
#[derive(Clone, Default)]
pub struct Items(Vec<(String, String, Range<usize>)>);

impl Items {
    pub fn with_spec(
        mut self,
        source: &Source,
        spec: Option<&Text>,
    ) -> Result<Items, ScenarioError> {
        let Some(spec) = spec else { return Ok(self) };
        let mut given: Vec<&str> = Vec::new();
        for item in spec.get_ref().split(',').map(str::trim) {
            let alone = Policy::OPTIONS.contains(&item).then_some((item, ""));
            let Some((key, value)) = item.split_once('=').or(alone) else {
                let remedy = "a link is written KEY=VALUE,KEY=VALUE, such as rate=5mbit,delay=25ms";
                return Err(source.error(spec.span(), format!("\"{item}\" has no `=`: {remedy}")));
            };
            let key = key.trim();
            // Overrides belong in a separate table; within one text the intended value
            // would be unclear.
            if let Some(other) = given.iter().find(|k| **k == key || Some(**k) == rival(key)) {
                let message = format!("`{other}` and `{key}` in one specification: keep one");
                return Err(source.error(spec.span(), message));
            }
            given.push(key);
            self.set(key, value.trim(), spec.span());
        }
        Ok(self)
    }

    pub fn with_keys(mut self, table: &Link) -> Items {
        let keys = [
            ("medium", &table.medium),
            ("standard", &table.standard),
            ("guard", &table.guard),
            ("interference", &table.interference),
            ("busy-period", &table.busy_period),
            ("attempts", &table.attempts),
            ("obss", &table.obss),
            ("snr", &table.snr),
            ("cqi", &table.cqi),
            ("rank", &table.rank),
            ("motion", &table.motion),
            ("handovers", &table.handovers),
            ("rate", &table.rate),
            ("trace", &table.trace),
            ("delay", &table.delay),
            ("jitter", &table.jitter),
            ("loss", &table.loss),
            ("burst-loss", &table.burst_loss),
            ("queue", &table.queue),
            ("aqm", &table.aqm),
            ("ecn", &table.ecn),
            ("burst", &table.burst),
        ];
        for (key, text) in keys {
            if let Some(text) = text {
                self.set(key, text.get_ref(), text.span());
            }
        }
        for (key, told) in [("metered", &table.metered), ("backup", &table.backup)] {
            if let Some(told) = told {
                self.0.retain(|(known, _, _)| known != key);
                if *told.get_ref() {
                    self.set(key, "", told.span());
                }
            }
        }
        if let Some(weight) = &table.weight {
            self.set("weight", &weight.get_ref().to_string(), weight.span());
        }
        self
    }

    /// Separates the policy of a call from the settings of the link itself.
    pub fn policy(self, source: &Source, name: &str) -> Result<(Policy, Items), ScenarioError> {
        let (of_policy, rest) = self.split(&Policy::OPTIONS);
        let mut policy = Policy::default();
        for (key, value, span) in &of_policy.0 {
            policy.set(key, value).map_err(|error| {
                let message = match error {
                    PolicyError::BadWeight => format!(
                        "`{value}` is not a weight: write a number above 0 and at most 1, like weight=0.5"
                    ),
                    PolicyError::NoSuchOption => format!("`{key}` has no value: write {key} alone"),
                };
                source.error(span.clone(), format!("link `{name}`: {message}"))
            })?;
        }
        Ok((policy, rest))
    }

    pub fn set(&mut self, key: &str, value: &str, span: Range<usize>) {
        self.0.retain(|(k, _, _)| Some(k.as_str()) != rival(key));
        let entry = (key.to_owned(), value.to_owned(), span);
        match self.0.iter_mut().find(|(k, _, _)| k == key) {
            Some(known) => *known = entry,
            None => self.0.push(entry),
        }
    }

    /// Returns the value of this key, with its location.
    pub fn find(&self, key: &str) -> Option<(&str, Range<usize>)> {
        let found = self.0.iter().find(|(k, _, _)| k == key)?;
        Some((&found.1, found.2.clone()))
    }

    /// Splits the settings into those with these keys and the others.
    pub fn split(&self, keys: &[&str]) -> (Items, Items) {
        let all = self.0.iter().cloned();
        let (with, without) = all.partition(|(key, _, _)| keys.contains(&key.as_str()));
        (Items(with), Items(without))
    }

    /// Iterates over the keys with their locations, in order.
    pub fn keys(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.0
            .iter()
            .map(|(key, _, span)| (key.as_str(), span.clone()))
    }

    /// Iterates over keys and values.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(key, value, _)| (key.as_str(), value.as_str()))
    }

    /// Reports an error at the location of the wrong key, or of the whole.
    pub fn blame(
        &self,
        source: &Source,
        name: &str,
        error: &SpecError,
        whole: Range<usize>,
    ) -> ScenarioError {
        let guilty = error.key().and_then(|key| self.find(key));
        let span = guilty.map_or(whole, |(_, span)| span);
        let words = match error {
            SpecError::UnknownKey { key } => {
                unknown_name("a link has no key", key, LinkSpec::KEYS.iter().copied())
            }
            error => error.to_string(),
        };
        source.error(span, format!("link `{name}`: {words}"))
    }

    /// Returns the pattern for several traces, if there is one.
    pub fn pattern(&self) -> Option<(&str, Range<usize>)> {
        self.find("trace").filter(|(trace, _)| trace.contains('*'))
    }

    pub fn with_star(&self, star: &str) -> Items {
        let mut items = self.clone();
        let traces = items.0.iter_mut().filter(|(key, _, _)| key == "trace");
        traces.for_each(|(_, value, _)| *value = value.replace('*', star));
        items
    }

    pub fn parse(
        &self,
        source: &Source,
        name: &str,
        whole: Range<usize>,
    ) -> Result<LinkSpec, ScenarioError> {
        let text: Vec<String> = self.0.iter().map(|(k, v, _)| format!("{k}={v}")).collect();
        let parsed = LinkSpec::parse(&text.join(","), |file| source.read_beside(file));
        parsed.map_err(|error| self.blame(source, name, &error, whole))
    }
}

/// Returns the other key with the same meaning: both define the capacity.
fn rival(key: &str) -> Option<&'static str> {
    match key {
        "rate" => Some("trace"),
        "trace" => Some("rate"),
        _ => None,
    }
}
