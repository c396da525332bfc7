//! Text form of cells: `KEY=VALUE`.

use super::spec::{
    LteBandwidth, LteBearers, LteMotion, LteQuality, LteScheduler, LteSignal, LteSpec, LteTerminal,
};
use crate::SpecError;
use crate::medium::keys::{Alone, QueueKeys, decibels, unknown};
use crate::spec::values;
use std::str::FromStr;
use weft_units::{Duration, quantity};

/// Keys of a cell as a whole.
const CELL: &[&str] = &[
    "bandwidth",
    "scheduler",
    "errors",
    "bearers",
    "request-period",
    "cqi-delay",
    "drx",
    "queue",
    "aqm",
    "ecn",
    "delay",
];
/// Keys of the cell that a single-terminal cell accepts in addition to the terminal's
/// keys.
const OF_CELL: [&str; 8] = [
    "bandwidth",
    "scheduler",
    "errors",
    "bearers",
    "request-period",
    "cqi-delay",
    "drx",
    "delay",
];

impl LteSpec {
    /// Keys of a link's specification that describe its own cell, not its terminal.
    pub const OF_OWN_CELL: &[&str] = &OF_CELL;
    /// Keys of a link's specification that describe its terminal.
    pub const OF_TERMINAL: &[&str] = &[
        "cqi",
        "snr",
        "motion",
        "rank",
        "queue",
        "aqm",
        "ecn",
        "handovers",
    ];

    /// Reads the cell, without terminals: `bandwidth=10MHz`,
    /// `scheduler=proportional-fair`, `errors=10%`, `bearers=default`,
    /// `request-period=10ms`, `cqi-delay=4ms`, `drx=40ms`, `delay=5ms`, and for
    /// the base station `queue=6MB`, `aqm=droptail` and `ecn=off`. Each key has
    /// a default.
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
    pub fn of_keys<'k>(
        keys: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<LteSpec, SpecError> {
        let mut cell = LteSpec::new(Vec::new());
        let mut queue = QueueKeys::default();
        for (key, value) in keys {
            match key {
                "bandwidth" => cell.bandwidth = bandwidth(value)?,
                "scheduler" => cell.scheduler = scheduler(value)?,
                "errors" => cell.errors = errors(value)?,
                "bearers" => cell.bearers = bearers(value)?,
                "request-period" => cell.request_period = millis("request-period", value)?,
                "cqi-delay" => cell.cqi_delay = values::time("cqi-delay", value)?,
                "drx" => cell.drx = Some(millis("drx", value)?),
                "delay" => cell.delay = values::time("delay", value)?,
                _ if queue.read(key, value)? => {}
                _ => return Err(unknown(key, CELL)),
            }
        }
        cell.queue = queue.limit.unwrap_or(cell.queue);
        cell.aqm = queue.aqm()?;
        Ok(cell)
    }

    /// Reads a cell of one terminal in the form of [`LteSpec::from_str`];
    /// `back` has the terminal's keys that differ in the reverse direction and
    /// may be empty. These keys also set the queue of the reverse direction.
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
    pub fn of_one(text: &str, back: &str) -> Result<LteSpec, SpecError> {
        let keys = (LteSpec::OF_OWN_CELL, LteSpec::OF_TERMINAL);
        let alone = Alone::read((text, back), "lte", keys)?;
        let mut cell = LteSpec::of_keys(alone.cell)?;
        let up = LteTerminal::of_keys(alone.there)?;
        let down = LteTerminal::of_keys(alone.back)?;
        cell.queue_back(&down, alone.has_queue);
        cell.terminals.push(up.with_way_back(&down)?);
        Ok(cell)
    }

    /// Sets the base station's queue of a single-terminal cell from `back`; its
    /// length counts only if `has_queue`.
    pub fn queue_back(&mut self, back: &LteTerminal, has_queue: bool) {
        self.queue = if has_queue { back.queue } else { self.queue };
        self.aqm = back.aqm;
    }
}

impl FromStr for LteSpec {
    type Err = SpecError;

    /// Reads a cell of one terminal: `medium=lte`, then the keys of the
    /// terminal and those of the cell except its queue, separated by commas.
    fn from_str(text: &str) -> Result<LteSpec, SpecError> {
        LteSpec::of_one(text, "")
    }
}

impl LteTerminal {
    /// Returns a terminal with the downlink signal of `back`.
    ///
    /// # Errors
    /// If the two differ in a property that both directions share.
    pub fn with_way_back(self, back: &LteTerminal) -> Result<LteTerminal, SpecError> {
        if back.handovers != self.handovers {
            let remedy =
                "a handover concerns both directions: write it for the forward direction only";
            return Err(values::bad("handovers", "others back", remedy));
        }
        let down = back.down;
        Ok(LteTerminal { down, ..self })
    }

    /// Reads a terminal, with equal directions: `cqi=12` or `snr=15dB` with
    /// `motion=walking`, one of them required, and `rank=2`, `queue=6MB`, `aqm=droptail`,
    /// `ecn=off`, `handovers=30s/60s`.
    ///
    /// # Errors
    /// Names the key, the value and the remedy.
    pub fn of_keys<'k>(
        keys: impl IntoIterator<Item = (&'k str, &'k str)>,
    ) -> Result<LteTerminal, SpecError> {
        let (mut steady, mut mean, mut motion) = (None, None, None);
        let (mut rank, mut handovers) = (1, Vec::new());
        let mut queue = QueueKeys::default();
        for (key, value) in keys {
            match key {
                "cqi" => steady = Some(cqi(value)?),
                "snr" => mean = Some(decibels("snr", value)?),
                "motion" => motion = Some(motion_of(value)?),
                "rank" => rank = rank_of(value)?,
                "handovers" => handovers = times(value)?,
                _ if queue.read(key, value)? => {}
                _ => return Err(unknown(key, LteSpec::OF_TERMINAL)),
            }
        }
        let quality = match (steady, mean, motion) {
            (Some(cqi), None, None) => LteQuality::Cqi(cqi),
            (None, Some(snr), motion) => LteQuality::Fading {
                snr,
                motion: motion.unwrap_or_default(),
            },
            (Some(cqi), _, _) => {
                let remedy = "a CQI stays, an SNR changes by its motion: keep one of the two";
                return Err(values::bad("cqi", &cqi.to_string(), remedy));
            }
            (None, None, _) => {
                return Err(SpecError::Missing {
                    key: "cqi",
                    example: "cqi=12, or snr=15dB",
                });
            }
        };
        let signal = LteSignal { quality, rank };
        let terminal = LteTerminal::new(signal, signal);
        Ok(LteTerminal {
            queue: queue.limit.unwrap_or(terminal.queue),
            aqm: queue.aqm()?,
            handovers,
            ..terminal
        })
    }
}

/// Finds the variant with this name.
fn named<T: Copy>(
    key: &'static str,
    value: &str,
    all: &[T],
    name: impl Fn(T) -> &'static str,
    remedy: &'static str,
) -> Result<T, SpecError> {
    let found = all.iter().copied().find(|each| name(*each) == value);
    found.ok_or_else(|| values::bad(key, value, remedy))
}

fn bandwidth(value: &str) -> Result<LteBandwidth, SpecError> {
    let remedy = "LTE has 1.4MHz, 3MHz, 5MHz, 10MHz, 15MHz and 20MHz";
    let name = LteBandwidth::name;
    named("bandwidth", value, &LteBandwidth::ALL, name, remedy)
}

fn scheduler(value: &str) -> Result<LteScheduler, SpecError> {
    let remedy = "the schedulers are proportional-fair, round-robin and max-rate";
    let name = LteScheduler::name;
    named("scheduler", value, &LteScheduler::ALL, name, remedy)
}

fn bearers(value: &str) -> Result<LteBearers, SpecError> {
    let remedy = "write default, or dedicated for one of video and voice beside it";
    let name = LteBearers::name;
    named("bearers", value, &LteBearers::ALL, name, remedy)
}

fn motion_of(value: &str) -> Result<LteMotion, SpecError> {
    let remedy = "a terminal is still, walking or driving";
    let name = LteMotion::name;
    named("motion", value, &LteMotion::ALL, name, remedy)
}

fn errors(value: &str) -> Result<f64, SpecError> {
    let remedy = "write the share of first attempts that fail as 10%, from 0% to 50%";
    // Chosen by us: no operator aims at a higher share.
    let share = values::percentage(value).filter(|share| *share <= 0.5);
    share.ok_or_else(|| values::bad("errors", value, remedy))
}

fn cqi(value: &str) -> Result<u8, SpecError> {
    let found = value.parse().ok().filter(|cqi| (1..=15).contains(cqi));
    found.ok_or_else(|| values::bad("cqi", value, "channel quality indicators are 1 to 15"))
}

fn rank_of(value: &str) -> Result<u8, SpecError> {
    let found = value.parse().ok().filter(|rank| (1..=2).contains(rank));
    let remedy = "write rank=1, or rank=2 for two transport blocks side by side";
    found.ok_or_else(|| values::bad("rank", value, remedy))
}

/// Reads a whole number of milliseconds.
fn millis(key: &'static str, value: &str) -> Result<Duration, SpecError> {
    let time = values::time(key, value)?;
    let is_whole = time > Duration::ZERO && time.as_nanos().is_multiple_of(1_000_000);
    let remedy = "a cell counts in milliseconds: write a whole number of them, such as 40ms";
    is_whole
        .then_some(time)
        .ok_or_else(|| values::bad(key, value, remedy))
}

fn times(value: &str) -> Result<Vec<Duration>, SpecError> {
    let times: Option<Vec<Duration>> = value.split('/').map(quantity::time).collect();
    let ascends = |times: &Vec<Duration>| times.is_sorted_by(|a, b| a < b);
    let remedy = "write the times of handovers in order, as 30s/60s";
    times
        .filter(ascends)
        .ok_or_else(|| values::bad("handovers", value, remedy))
}
