//! What cells of all kinds have in common as people write them.

use crate::spec::values::{self, AqmName};
use crate::{Aqm, EcnMarking, QueueLimit, SpecError};
use weft_units::{Bytes, quantity};

/// Keys and values of a cell of this kind and its one station, between commas.
pub(super) fn pairs<'t>(text: &'t str, kind: &str) -> Result<Vec<(&'t str, &'t str)>, SpecError> {
    let mut pairs = Vec::new();
    for item in text.split(',').map(str::trim) {
        let not_a_pair = || SpecError::NotKeyValue { item: item.into() };
        let (key, value) = item.split_once('=').ok_or_else(not_a_pair)?;
        pairs.push((key.trim(), value.trim()));
    }
    pairs.retain(|pair| *pair != ("medium", kind));
    Ok(pairs)
}

/// What is said of a queue.
#[derive(Default)]
pub(super) struct QueueKeys {
    pub limit: Option<Bytes>,
    aqm: Option<AqmName>,
    ecn: Option<EcnMarking>,
}

impl QueueKeys {
    /// Whether the key is one of a queue.
    pub fn read(&mut self, key: &str, value: &str) -> Result<bool, SpecError> {
        match key {
            "queue" => match values::queue(value)? {
                QueueLimit::Bytes(bytes) => self.limit = Some(bytes),
                QueueLimit::Time(_) | QueueLimit::Bdp(_) => {
                    let remedy = "nobody knows beforehand what a station of a cell can send: \
                                  write its queue in bytes, such as 1500kB";
                    return Err(values::bad("queue", value, remedy));
                }
            },
            "aqm" => self.aqm = Some(values::aqm(value)?),
            "ecn" => self.ecn = Some(values::ecn(value)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub fn aqm(&self) -> Result<Aqm, SpecError> {
        values::aqm_with(self.aqm.unwrap_or(AqmName::DropTail), self.ecn)
    }
}

pub(super) fn decibels(key: &'static str, value: &str) -> Result<f64, SpecError> {
    let number = value.strip_suffix("dB").and_then(quantity::decimal);
    // Chosen by us: nothing that is received is further from the noise.
    let found = number.filter(|db| *db <= 100.0);
    found.ok_or_else(|| values::bad(key, value, "write decibels as 10dB, up to 100dB"))
}

pub(super) fn unknown(key: &str, known: &[&str]) -> SpecError {
    SpecError::NoSuchKey {
        key: key.into(),
        known: known.join(", "),
    }
}
