//! Times, rates, sizes and shares as scenario files write them: a number and
//! its unit, as in link specifications.

use serde::de::{Deserialize, Deserializer, Visitor};
use std::fmt;
use weft_units::{Bytes, Duration, Rate};

/// A time: `"30s"`, `"25ms"`, `"3min"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Time(pub Duration);

/// A rate: `"5mbit"`, `"500kbit"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Speed(pub Rate);

/// A size: `"9MB"`, `"60kB"`, `"1200B"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Size(pub Bytes);

/// A share: `"10%"` is 0.1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Share(pub f64);

/// Largest values that are taken for meant; chosen by us: a day, 1 Tbit/s,
/// 1 TB and ten times the whole.
const MAX_SECONDS: f64 = 86_400.0;
const MAX_BPS: f64 = 1e12;
const MAX_BYTES: f64 = 1e12;
const MAX_SHARE: f64 = 10.0;

/// Unit names and factors; a name that ends like another one comes first.
type Units = &'static [(&'static str, f64)];

const TIMES: Units = &[
    ("ms", 1e-3),
    ("us", 1e-6),
    ("min", 60.0),
    ("h", 3600.0),
    ("s", 1.0),
];
const RATES: Units = &[("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)];
const SIZES: Units = &[("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
const SHARES: Units = &[("%", 0.01)];

/// Reads a time such as `30s`; the error says what can be written.
pub fn time(text: &str) -> Result<Duration, String> {
    let remedy =
        "write a time with its unit, such as \"30s\", \"25ms\" or \"3min\" (at most a day)";
    quantity("a time", text, TIMES, MAX_SECONDS, remedy).map(Duration::from_secs_f64)
}

fn rate(text: &str) -> Result<Rate, String> {
    let remedy = "write a rate with its unit, such as \"5mbit\", \"500kbit\" or \"1gbit\"";
    quantity("a rate", text, RATES, MAX_BPS, remedy).map(|bps| Rate::from_bps(bps.round() as u64))
}

fn size(text: &str) -> Result<Bytes, String> {
    let remedy = "write a size with its unit, such as \"9MB\", \"60kB\" or \"1200B\"";
    quantity("a size", text, SIZES, MAX_BYTES, remedy).map(|bytes| Bytes(bytes.round() as u64))
}

fn share(text: &str) -> Result<f64, String> {
    let remedy = "write a share such as \"10%\"";
    quantity("a share", text, SHARES, MAX_SHARE, remedy)
}

fn quantity(what: &str, text: &str, units: Units, max: f64, remedy: &str) -> Result<f64, String> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err(format!(
            "{what} cannot be negative, found \"{text}\": {remedy}"
        ));
    }
    let found = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), factor)));
    let read = found.and_then(|(number, factor)| {
        // Only digits and a point: `f64` also reads "inf", "nan" and "1e9".
        let plain = number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        let value = if plain {
            number.parse::<f64>().ok()? * factor
        } else {
            return None;
        };
        (value <= max).then_some(value)
    });
    read.ok_or_else(|| format!("\"{text}\" is not {what}: {remedy}"))
}

struct Text<T>(fn(&str) -> Result<T, String>);

impl<T> Visitor<'_> for Text<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text with number and unit")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.0)(text).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }
}

macro_rules! from_text {
    ($type:ident, $read:ident) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                from.deserialize_any(Text($read)).map($type)
            }
        }
    };
}

from_text!(Time, time);
from_text!(Speed, rate);
from_text!(Size, size);
from_text!(Share, share);

#[cfg(test)]
mod tests;
