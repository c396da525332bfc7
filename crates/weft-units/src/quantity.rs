//! Quantities in text form: a decimal number and its unit, `25ms`, `2.5mbit`,
//! `60kB`, `1%`. Prefixes are powers of ten.
//!
//! Parsers return `None` for invalid text, because only the caller knows the remedy.

use crate::{Bytes, Duration, Rate};

/// Largest accepted values: a day, 1 Tbit/s, 1 TB and ten times the whole. Chosen by us,
/// so that arithmetic on the clock stays far below its limits.
const MOST_SECONDS: f64 = 86_400.0;
const MOST_BPS: f64 = 1e12;
const MOST_BYTES: f64 = 1e12;
const MOST_SHARE: f64 = 10.0;

/// Unit names and factors. A name comes before every name that is its suffix.
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

/// Parses a time of at most a day: `500us`, `25ms`, `1.5s`, `3min`, `1h`.
#[must_use]
pub fn time(text: &str) -> Option<Duration> {
    scaled(text, TIMES, MOST_SECONDS).map(Duration::from_secs_f64)
}

/// Parses a rate of at most 1 Tbit/s: `9600bit`, `500kbit`, `5mbit`, `1gbit`.
#[must_use]
pub fn rate(text: &str) -> Option<Rate> {
    scaled(text, RATES, MOST_BPS).map(|bps| Rate::from_bps(bps.round() as u64))
}

/// Parses a size of at most 1 TB: `1200B`, `60kB`, `9MB`, `1GB`.
#[must_use]
pub fn size(text: &str) -> Option<Bytes> {
    scaled(text, SIZES, MOST_BYTES).map(|bytes| Bytes(bytes.round() as u64))
}

/// Parses a share of at most ten times the whole: `10%` is 0.1.
#[must_use]
pub fn share(text: &str) -> Option<f64> {
    scaled(text, SHARES, MOST_SHARE)
}

/// Parses a decimal number of digits and a point. Rejects the other forms that `f64`
/// accepts: "inf", "nan", "1e9" and signs.
#[must_use]
pub fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    plain.then(|| text.parse().ok()).flatten()
}

fn scaled(text: &str, units: Units, most: f64) -> Option<f64> {
    let text = text.trim();
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((text.strip_suffix(unit)?.trim_end(), factor)))?;
    let value = decimal(number)? * factor;
    (value <= most).then_some(value)
}

#[cfg(test)]
mod tests;
