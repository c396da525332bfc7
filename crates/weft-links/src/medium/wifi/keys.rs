//! Cells as people write them: `KEY=VALUE`.

use super::rate::{GuardInterval, WifiRate, WifiStandard};
use super::spec::{ApQueue, WifiSpec, WifiStation};
use crate::SpecError;
use crate::medium::keys::{QueueKeys, decibels, pairs, unknown};
use crate::spec::values;
use std::str::FromStr;

/// Keys of a cell as a whole.
const CELL: &str = "standard, guard, ap-queue, queue, aqm, ecn, capture, interference, delay";
/// Of these, what is said of a cell of one station beside the station's keys.
const OF_CELL: [&str; 4] = ["standard", "guard", "interference", "delay"];
/// Keys of a station.
const STATION: &str = "rate, snr, queue, aqm, ecn";

impl WifiSpec {
    /// The cell of these keys and values, without any station: `standard=n`,
    /// `guard=short`, `ap-queue=fifo`, and of the access point `queue=3MB`,
    /// `aqm=droptail`, `ecn=off`, and `capture=10dB`,
    /// `interference=20%` and `delay=1ms`. Each has its default.
    ///
    /// # Errors
    /// With the key, the value and the remedy.
    pub fn of_keys<'k>(
        keys: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<WifiSpec, SpecError> {
        let mut cell = WifiSpec::new(WifiStandard::default(), Vec::new());
        let mut queue = QueueKeys::default();
        for (key, value) in keys {
            match key {
                "standard" => cell.standard = standard(value)?,
                "guard" => cell.guard = guard(value)?,
                "ap-queue" => cell.ap_queue = ap_queue(value)?,
                "capture" => cell.capture = Some(decibels("capture", value)?),
                "interference" => cell.interference = interference(value)?,
                "delay" => cell.delay = values::time("delay", value)?,
                _ if queue.read(key, value)? => {}
                _ => return Err(unknown(key, CELL)),
            }
        }
        cell.queue = queue.limit.unwrap_or(cell.queue);
        cell.aqm = queue.aqm()?;
        Ok(cell)
    }
}

impl FromStr for WifiSpec {
    type Err = SpecError;

    /// A cell of one station: `medium=wifi`, and with commas the keys of the
    /// station and `standard`, `guard`, `interference` and `delay` of the cell.
    fn from_str(text: &str) -> Result<WifiSpec, SpecError> {
        let pairs = pairs(text, "wifi")?;
        let is_of_cell = |(key, _): &(&str, &str)| OF_CELL.contains(key);
        let (cell, station): (Vec<_>, Vec<_>) = pairs.into_iter().partition(is_of_cell);
        let mut cell = WifiSpec::of_keys(cell)?;
        let station = WifiStation::of_keys(cell.standard, station)?;
        cell.stations.push(station);
        Ok(cell)
    }
}

impl WifiStation {
    /// The station of these keys and values: `rate=mcs7`, which is required,
    /// and `snr=40dB`, `queue=1500kB`, `aqm=droptail`, `ecn=off`.
    ///
    /// # Errors
    /// With the key, the value and the remedy.
    pub fn of_keys<'k>(
        standard: WifiStandard,
        keys: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<WifiStation, SpecError> {
        let mut rate: Option<WifiRate> = None;
        let mut snr: Option<f64> = None;
        let mut queue = QueueKeys::default();
        for (key, value) in keys {
            match key {
                "snr" => snr = Some(decibels("snr", value)?),
                "rate" => {
                    let found = standard.rate(value);
                    rate = Some(found.ok_or_else(|| bad_rate(standard, value))?);
                }
                _ if queue.read(key, value)? => {}
                _ => return Err(unknown(key, STATION)),
            }
        }
        let rate = rate.ok_or(SpecError::Missing {
            key: "rate",
            example: match standard {
                WifiStandard::B => "rate=11mbit",
                WifiStandard::G => "rate=54mbit",
                WifiStandard::N => "rate=mcs7",
            },
        })?;
        let station = WifiStation::new(rate);
        Ok(WifiStation {
            snr: snr.unwrap_or(station.snr),
            queue: queue.limit.unwrap_or(station.queue),
            aqm: queue.aqm()?,
            ..station
        })
    }
}

fn standard(value: &str) -> Result<WifiStandard, SpecError> {
    let mut all = WifiStandard::ALL.into_iter();
    let found = all.find(|standard| standard.as_str() == value);
    found.ok_or_else(|| values::bad("standard", value, "there are b, g and n, of IEEE 802.11"))
}

fn guard(value: &str) -> Result<GuardInterval, SpecError> {
    match value {
        "short" => Ok(GuardInterval::Short),
        "long" => Ok(GuardInterval::Long),
        _ => Err(values::bad(
            "guard",
            value,
            "write guard=short or guard=long",
        )),
    }
}

fn ap_queue(value: &str) -> Result<ApQueue, SpecError> {
    let mut all = ApQueue::ALL.into_iter();
    let found = all.find(|queue| queue.as_str() == value);
    let remedy =
        "an access point has one queue for all, fifo, or one for each, per-station or by airtime";
    found.ok_or_else(|| values::bad("ap-queue", value, remedy))
}

fn interference(value: &str) -> Result<f64, SpecError> {
    let remedy = "write the share of the time that strangers hold the medium as 20%, below 100%";
    let share = values::percentage(value).filter(|share| *share < 1.0);
    share.ok_or_else(|| values::bad("interference", value, remedy))
}

fn bad_rate(standard: WifiStandard, value: &str) -> SpecError {
    let remedy = match standard {
        WifiStandard::B => "802.11b has 1mbit, 2mbit, 5.5mbit and 11mbit",
        WifiStandard::G => {
            "802.11g has 6mbit, 9mbit, 12mbit, 18mbit, 24mbit, 36mbit, 48mbit and 54mbit"
        }
        WifiStandard::N => "802.11n has mcs0 to mcs7 with one stream, mcs8 to mcs15 with two",
    };
    values::bad("rate", value, remedy)
}
