//! Keys that cells of all kinds share in their text form.

use crate::spec::values::{self, AqmName};
use crate::{Aqm, EcnMarking, QueueLimit, SpecError};
use weft_units::{Bytes, quantity};

/// Keys and values, each key once.
pub(super) type Pairs<'t> = Vec<(&'t str, &'t str)>;

/// Text of a cell with one station.
pub(super) struct Alone<'t> {
    pub cell: Pairs<'t>,
    /// Keys of the station.
    pub there: Pairs<'t>,
    /// Keys of the station in the reverse direction, including those that are the same.
    pub back: Pairs<'t>,
    /// Whether a key sets the length of a queue.
    pub has_queue: bool,
}

impl<'t> Alone<'t> {
    /// Reads `medium=KIND,KEY=VALUE,...`, and from `back` the keys that differ
    /// in the reverse direction. `back` may be empty.
    pub fn read(
        (text, back): (&'t str, &'t str),
        kind: &'static str,
        (of_cell, of_station): (&[&'static str], &[&'static str]),
    ) -> Result<Alone<'t>, SpecError> {
        let all = [&["medium"], of_cell, of_station].concat();
        let (cell, there): (Pairs<'_>, Pairs<'_>) = pairs(text, &all)?
            .into_iter()
            .filter(|pair| *pair != ("medium", kind))
            .partition(|(key, _)| of_cell.contains(key));
        let changed = match back {
            "" => Vec::new(),
            back => pairs(back, of_station)?,
        };
        let is_kept = |(key, _): &(&str, &str)| changed.iter().all(|(other, _)| other != key);
        let kept = there.iter().copied().filter(is_kept);
        let back: Pairs<'_> = kept.chain(changed.iter().copied()).collect();
        Ok(Alone {
            has_queue: back.iter().any(|(key, _)| *key == "queue"),
            cell,
            there,
            back,
        })
    }
}

/// Accepts only these keys.
fn pairs<'t>(text: &'t str, known: &[&'static str]) -> Result<Pairs<'t>, SpecError> {
    let mut pairs: Pairs<'_> = Vec::new();
    for item in text.split(',').map(str::trim) {
        let not_a_pair = || SpecError::NotKeyValue { item: item.into() };
        let (key, value) = item.split_once('=').ok_or_else(not_a_pair)?;
        let (key, value) = (key.trim(), value.trim());
        let Some(known) = known.iter().find(|known| **known == key) else {
            return Err(unknown(key, known));
        };
        if pairs.iter().any(|(other, _)| *other == key) {
            return Err(SpecError::Repeated { key: known });
        }
        pairs.push((key, value));
    }
    Ok(pairs)
}

/// Full packet of Ethernet without its check sequence (IEEE 802.3 clause 3.2.7).
const PACKET: Bytes = Bytes(1514);

/// Values of a queue's keys.
#[derive(Default)]
pub(super) struct QueueKeys {
    pub limit: Option<Bytes>,
    aqm: Option<AqmName>,
    ecn: Option<EcnMarking>,
}

impl QueueKeys {
    /// Reads the key if it belongs to a queue; returns whether it does.
    pub fn read(&mut self, key: &str, value: &str) -> Result<bool, SpecError> {
        match key {
            "queue" => match values::queue(value)? {
                QueueLimit::Bytes(bytes) if bytes < PACKET => {
                    let remedy = "no full packet fits in: write 1514B or more";
                    return Err(values::bad("queue", value, remedy));
                }
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
    // Chosen by us: no received signal exceeds the noise by more.
    let found = number.filter(|db| *db <= 100.0);
    found.ok_or_else(|| values::bad(key, value, "write decibels as 10dB, up to 100dB"))
}

pub(super) fn unknown(key: &str, known: &[&str]) -> SpecError {
    SpecError::NoSuchKey {
        key: key.into(),
        known: known.join(", "),
    }
}
