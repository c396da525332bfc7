//! Times, rates, sizes and shares in scenario files: a number and its unit, as in link
//! specifications.

use serde::de::{Deserialize, Deserializer, Visitor};
use std::fmt;
use weft_units::{Bytes, Duration, Rate, quantity};

/// Time, such as `"30s"`, `"25ms"` or `"3min"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Time(pub Duration);

/// Rate, such as `"5mbit"` or `"500kbit"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Speed(pub Rate);

/// Size, such as `"9MB"`, `"60kB"` or `"1200B"`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Size(pub Bytes);

/// Share: `"10%"` is 0.1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Default)]
pub struct Share(pub f64);

/// Reads a time such as `30s`; the error describes the format.
pub fn time(text: &str) -> Result<Duration, String> {
    let remedy =
        "write a time with its unit, such as \"30s\", \"25ms\" or \"3min\" (at most a day)";
    quantity::time(text).ok_or_else(|| refusal("a time", text, remedy))
}

/// Reads a rate such as `5mbit`; the error describes the format.
pub fn rate(text: &str) -> Result<Rate, String> {
    let remedy = "write a rate with its unit, such as \"5mbit\", \"500kbit\" or \"1gbit\"";
    quantity::rate(text).ok_or_else(|| refusal("a rate", text, remedy))
}

fn size(text: &str) -> Result<Bytes, String> {
    let remedy = "write a size with its unit, such as \"9MB\", \"60kB\" or \"1200B\"";
    quantity::size(text).ok_or_else(|| refusal("a size", text, remedy))
}

fn share(text: &str) -> Result<f64, String> {
    quantity::share(text).ok_or_else(|| refusal("a share", text, "write a share such as \"10%\""))
}

fn refusal(what: &str, text: &str, remedy: &str) -> String {
    if text.trim().starts_with('-') {
        format!("{what} cannot be negative, found \"{text}\": {remedy}")
    } else {
        format!("\"{text}\" is not {what}: {remedy}")
    }
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
