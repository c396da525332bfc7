//! Text form of cells: `KEY=VALUE`.

use super::rate::{GuardInterval, WifiStandard};
use super::signal::{WifiMotion, WifiSignal};
use super::spec::{ApQueue, WifiObssRelation, WifiRateControl, WifiSpec, WifiStation};
use crate::SpecError;
use crate::medium::keys::{Alone, QueueKeys, decibels, unknown};
use crate::spec::values;
use std::str::FromStr;
use weft_units::Duration;

/// Keys of a cell as a whole.
const CELL: &[&str] = &[
    "standard",
    "guard",
    "ap-queue",
    "queue",
    "aqm",
    "ecn",
    "capture",
    "interference",
    "busy-period",
    "attempts",
    "delay",
];
impl WifiSpec {
    /// Keys of a link's specification that describe its own cell.
    pub const OF_OWN_CELL: &[&str] = &[
        "standard",
        "guard",
        "interference",
        "busy-period",
        "attempts",
        "delay",
    ];

    /// Reads the cell, without stations: `standard=n`, `guard=short`,
    /// `ap-queue=fifo`, for the access point `queue=3MB`, `aqm=droptail` and
    /// `ecn=off`, and `capture=10dB`, `interference=20%`, `busy-period=2ms`,
    /// `attempts=7` and `delay=1ms`. Each key has a default.
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
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
                "busy-period" => cell.busy_period = values::time("busy-period", value)?,
                "attempts" => cell.attempts = attempts(value)?,
                "delay" => cell.delay = values::time("delay", value)?,
                _ if queue.read(key, value)? => {}
                _ => return Err(unknown(key, CELL)),
            }
        }
        cell.queue = queue.limit.unwrap_or(cell.queue);
        cell.aqm = queue.aqm()?;
        Ok(cell)
    }

    /// Reads a cell of one station in the form of [`WifiSpec::from_str`];
    /// `back` has the station's keys that differ in the reverse direction and
    /// may be empty. These keys also set the queue of the reverse direction.
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
    pub fn of_one(text: &str, back: &str) -> Result<WifiSpec, SpecError> {
        let keys = (WifiSpec::OF_OWN_CELL, WifiStation::KEYS);
        let alone = Alone::read((text, back), "wifi", keys)?;
        let mut cell = WifiSpec::of_keys(alone.cell)?;
        let up = WifiStation::of_keys(cell.standard, alone.there)?;
        let down = WifiStation::of_keys(cell.standard, alone.back)?;
        cell.queue_back(&down, alone.has_queue);
        cell.stations.push(up.with_way_back(&down)?);
        Ok(cell)
    }

    /// Sets the access point's queue of a single-station cell from `back`; its
    /// length counts only if `has_queue`.
    pub fn queue_back(&mut self, back: &WifiStation, has_queue: bool) {
        self.queue = if has_queue { back.queue } else { self.queue };
        self.aqm = back.aqm;
    }
}

impl FromStr for WifiSpec {
    type Err = SpecError;

    /// Reads a cell of one station: `medium=wifi`, then the keys of the station
    /// and `standard`, `guard`, `interference`, `busy-period`, `attempts` and
    /// `delay` of the cell, separated by commas.
    fn from_str(text: &str) -> Result<WifiSpec, SpecError> {
        WifiSpec::of_one(text, "")
    }
}

impl WifiStation {
    /// Keys of a link's specification that describe its station.
    pub const KEYS: &[&str] = &["rate", "snr", "motion", "obss", "queue", "aqm", "ecn"];

    /// Reads a station: `rate=mcs7`, `rate=ideal` or `rate=minstrel`, one of
    /// them required, and `snr=40dB` or `snr=40dB@10s/5dB@60s`, `motion=still`,
    /// `obss=heard`, `queue=1500kB`, `aqm=droptail`, `ecn=off`.
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
    pub fn of_keys<'k>(
        standard: WifiStandard,
        keys: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<WifiStation, SpecError> {
        let mut rate: Option<WifiRateControl> = None;
        let (mut points, mut motion) = (None, WifiMotion::default());
        let mut heard = WifiObssRelation::default();
        let mut queue = QueueKeys::default();
        for (key, value) in keys {
            match key {
                "obss" => heard = obss(value)?,
                "snr" => points = Some(way(value)?),
                "motion" => motion = motion_of(value)?,
                "rate" => rate = Some(control(standard, value)?),
                _ if queue.read(key, value)? => {}
                _ => return Err(unknown(key, WifiStation::KEYS)),
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
        let station = WifiStation::of(rate);
        let changes = points.as_ref().is_some_and(|points| points.len() > 1);
        if standard == WifiStandard::B && (changes || motion != WifiMotion::Still) {
            let remedy = "what noise does to 802.11b is not modelled: give it a signal that stays";
            return Err(values::bad("snr", "one that changes", remedy));
        }
        Ok(WifiStation {
            signal: WifiSignal {
                points: points.unwrap_or(station.signal.points),
                motion,
            },
            obss: heard,
            queue: queue.limit.unwrap_or(station.queue),
            aqm: queue.aqm()?,
            ..station
        })
    }

    /// Returns a station with the rate control and signal of `back` in the direction from
    /// the access point.
    ///
    /// # Errors
    /// If the two differ in a property that both directions share.
    pub fn with_way_back(self, back: &WifiStation) -> Result<WifiStation, SpecError> {
        if back.obss != self.obss {
            let remedy = "a station hears overlapping networks or does not: write it for the \
                          forward direction only";
            return Err(values::bad("obss", "another one back", remedy));
        }
        if back.signal.motion != self.signal.motion {
            let remedy = "motion changes both directions alike: write `motion` for the forward direction only";
            return Err(values::bad("motion", "another one back", remedy));
        }
        let differs = back.signal != self.signal;
        Ok(WifiStation {
            down: back.up,
            signal_back: differs.then(|| back.signal.clone()),
            ..self
        })
    }
}

fn control(standard: WifiStandard, value: &str) -> Result<WifiRateControl, SpecError> {
    match value {
        "ideal" if standard != WifiStandard::B => Ok(WifiRateControl::Ideal),
        "minstrel" if standard != WifiStandard::B => Ok(WifiRateControl::Minstrel),
        rate => {
            let found = standard.rate(rate).map(WifiRateControl::Fixed);
            found.ok_or_else(|| bad_rate(standard, rate))
        }
    }
}

/// Reads `40dB`, or `40dB@10s/-5dB@60s`.
fn way(value: &str) -> Result<Vec<(Duration, f64)>, SpecError> {
    if !value.contains('@') {
        return Ok(vec![(Duration::ZERO, signal(value)?)]);
    }
    let remedy = "write what it is at which time, in order, as 40dB@10s/-5dB@60s";
    let bad = || values::bad("snr", value, remedy);
    let point = |text: &str| {
        let (snr, at) = text.split_once('@').ok_or_else(bad)?;
        Ok((values::time("snr", at)?, signal(snr)?))
    };
    let points: Vec<_> = value
        .split('/')
        .map(point)
        .collect::<Result<_, SpecError>>()?;
    let ascends = points.is_sorted_by(|(a, _), (b, _)| a < b);
    ascends.then_some(points).ok_or_else(bad)
}

/// Reads a signal, which is negative below the noise.
fn signal(value: &str) -> Result<f64, SpecError> {
    match value.strip_prefix('-') {
        Some(below) => Ok(-decibels("snr", below)?),
        None => decibels("snr", value),
    }
}

fn motion_of(value: &str) -> Result<WifiMotion, SpecError> {
    let remedy = "a WiFi station is still or walking";
    named("motion", value, WifiMotion::ALL, WifiMotion::name, remedy)
}

fn standard(value: &str) -> Result<WifiStandard, SpecError> {
    let remedy = "there are b, g and n, of IEEE 802.11";
    named(
        "standard",
        value,
        WifiStandard::ALL,
        WifiStandard::name,
        remedy,
    )
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
    let remedy =
        "an access point has one queue for all, fifo, or one for each, per-station or by airtime";
    named("ap-queue", value, ApQueue::ALL, ApQueue::name, remedy)
}

fn interference(value: &str) -> Result<f64, SpecError> {
    let remedy = "write the share of the time that an overlapping network holds the medium as \
                  20%, below 100%";
    let share = values::percentage(value).filter(|share| *share < 1.0);
    share.ok_or_else(|| values::bad("interference", value, remedy))
}

fn attempts(value: &str) -> Result<u8, SpecError> {
    let attempts = value.parse().ok().filter(|attempts| *attempts > 0);
    let remedy = "write how often a frame is sent before it is given up, 1 to 255";
    attempts.ok_or_else(|| values::bad("attempts", value, remedy))
}

fn obss(value: &str) -> Result<WifiObssRelation, SpecError> {
    let remedy = "write obss=heard, or obss=hidden for a station that does not hear the \
                  overlapping networks of `interference`";
    named(
        "obss",
        value,
        WifiObssRelation::ALL,
        WifiObssRelation::name,
        remedy,
    )
}

/// Finds the variant with this name.
fn named<T: Copy, const N: usize>(
    key: &'static str,
    value: &str,
    all: [T; N],
    name: impl Fn(T) -> &'static str,
    remedy: &'static str,
) -> Result<T, SpecError> {
    let found = all.into_iter().find(|each| name(*each) == value);
    found.ok_or_else(|| values::bad(key, value, remedy))
}

fn bad_rate(standard: WifiStandard, value: &str) -> SpecError {
    let remedy = match standard {
        WifiStandard::B => {
            "802.11b has 1mbit, 2mbit, 5.5mbit and 11mbit; the effect of noise is not modelled, so ideal and minstrel are not available"
        }
        WifiStandard::G => {
            "802.11g has 6mbit, 9mbit, 12mbit, 18mbit, 24mbit, 36mbit, 48mbit and 54mbit, and ideal or minstrel choose among them"
        }
        WifiStandard::N => {
            "802.11n has mcs0 to mcs7 with one stream, mcs8 to mcs15 with two, and ideal or minstrel choose among them"
        }
    };
    values::bad("rate", value, remedy)
}
