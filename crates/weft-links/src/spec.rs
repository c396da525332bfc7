use crate::{Capacity, QueueLimit};
use std::fmt;
use std::str::FromStr;
use weft_units::{Bytes, Duration, Rate};

/// RFC 8867's default bottleneck queue.
const DEFAULT_QUEUE: QueueLimit = QueueLimit::Time(Duration::from_millis(300));
/// Largest values that are taken for meant; chosen by us, so that arithmetic
/// on the clock never comes near its range.
const MAX_TIME_S: f64 = 3_600.0;
const MAX_RATE_BPS: f64 = 1e12;
const MAX_BYTES: f64 = 1e12;
const MAX_BDP: f64 = 1_000.0;

const RATE_UNITS: Units = &[("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)];
const TIME_UNITS: Units = &[("ms", 1e-3), ("us", 1e-6), ("s", 1.0)];
const SIZE_UNITS: Units = &[("MB", 1e6), ("kB", 1e3), ("B", 1.0)];
const KEYS: &str = "rate, delay, loss, queue, jitter, aqm";

/// Unit names and factors; a name that ends like another one comes first.
type Units = &'static [(&'static str, f64)];

/// One direction of a link, as a person writes it:
/// `rate=5mbit,delay=25ms,loss=1%,queue=2bdp,jitter=5ms`.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSpec {
    /// `rate=5mbit`: how fast it transmits. Required in text; schedules are
    /// set in code.
    pub capacity: Capacity,
    /// `delay=25ms`: one-way propagation, apart from the queue. Default zero.
    pub delay: Duration,
    /// `jitter=5ms`: standard deviation of the propagation delay, Gaussian,
    /// truncated at three of them and at zero delay, without reordering
    /// (RFC 8868). Default none.
    pub jitter: Duration,
    /// `loss=1%`: probability, 0 to 1, that a transmitted packet is lost,
    /// each for itself. Default zero.
    pub loss: f64,
    /// `queue=2bdp|60kB|300ms`: drop-tail limit. Default 300 ms (RFC 8867).
    pub queue: QueueLimit,
}

/// A link specification that cannot be used; the message names the place and
/// the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// Not `key=value`.
    #[error("'{item}' in a link specification is not KEY=VALUE: write for example rate=5mbit")]
    NotKeyValue {
        /// What was written.
        item: String,
    },
    /// No such key.
    #[error("'{key}' is not a key of a link specification: the keys are {KEYS}")]
    UnknownKey {
        /// What was written.
        key: String,
    },
    /// A key was given twice.
    #[error("'{key}' is given twice in the link specification: keep one")]
    Repeated {
        /// The key.
        key: &'static str,
    },
    /// A key that must be there is not.
    #[error("the link specification has no '{key}': add for example {example}")]
    Missing {
        /// The key.
        key: &'static str,
        /// A value that would do.
        example: &'static str,
    },
    /// The value of a key does not fit.
    #[error("{key}={value}: {remedy}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// What was written.
        value: String,
        /// What can be written.
        remedy: &'static str,
    },
    /// A key or value of the design that this version has no model for.
    #[error("{key}={value} is not supported yet: {remedy}")]
    NotSupportedYet {
        /// The key.
        key: &'static str,
        /// What was written.
        value: String,
        /// What to write in its place.
        remedy: &'static str,
    },
}

impl LinkSpec {
    /// A link of this capacity and one-way delay, without loss and jitter,
    /// and with the default queue.
    #[must_use]
    pub fn new(capacity: impl Into<Capacity>, delay: Duration) -> LinkSpec {
        LinkSpec {
            capacity: capacity.into(),
            delay,
            jitter: Duration::ZERO,
            loss: 0.0,
            queue: DEFAULT_QUEUE,
        }
    }
}

/// The values as read; each at most once.
#[derive(Default)]
struct Parts {
    rate: Option<Rate>,
    delay: Option<Duration>,
    jitter: Option<Duration>,
    loss: Option<f64>,
    queue: Option<QueueLimit>,
    aqm: Option<()>,
}

impl FromStr for LinkSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<LinkSpec, SpecError> {
        let mut parts = Parts::default();
        for item in text.split(',').map(str::trim) {
            let (key, value) = item
                .split_once('=')
                .ok_or_else(|| SpecError::NotKeyValue { item: item.into() })?;
            parts.read(key.trim(), value.trim())?;
        }
        let rate = parts.rate.ok_or(SpecError::Missing {
            key: "rate",
            example: "rate=5mbit",
        })?;
        let mut spec = LinkSpec::new(rate, parts.delay.unwrap_or_default());
        spec.jitter = parts.jitter.unwrap_or_default();
        spec.loss = parts.loss.unwrap_or_default();
        spec.queue = parts.queue.unwrap_or(DEFAULT_QUEUE);
        if let QueueLimit::Bdp(factor) = spec.queue
            && spec.delay == Duration::ZERO
        {
            let value = format!("{factor}bdp");
            let remedy = "a bandwidth-delay product needs a delay: add delay=25ms, or give the \
                          queue in bytes or time";
            return Err(bad("queue", &value, remedy));
        }
        Ok(spec)
    }
}

impl Parts {
    fn read(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "rate" => set(&mut self.rate, "rate", rate(value)?),
            "delay" => set(&mut self.delay, "delay", time("delay", value)?),
            "jitter" => set(&mut self.jitter, "jitter", time("jitter", value)?),
            "loss" => set(&mut self.loss, "loss", loss(value)?),
            "queue" => set(&mut self.queue, "queue", queue(value)?),
            "aqm" => set(&mut self.aqm, "aqm", aqm(value)?),
            "trace" => Err(later("trace", value, "give a constant rate=5mbit")),
            "burst-loss" => Err(later("burst-loss", value, "give random loss, loss=1%")),
            _ => Err(SpecError::UnknownKey { key: key.into() }),
        }
    }
}

fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), SpecError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(SpecError::Repeated { key }),
    }
}

fn rate(value: &str) -> Result<Rate, SpecError> {
    let remedy =
        "write a rate as 5mbit, 500kbit, 1gbit or 9600bit (powers of ten, at most 1 Tbit/s)";
    let bps = quantity(value, RATE_UNITS, MAX_RATE_BPS);
    bps.map(|b| Rate::from_bps(b.round() as u64))
        .ok_or_else(|| bad("rate", value, remedy))
}

fn time(key: &'static str, value: &str) -> Result<Duration, SpecError> {
    let remedy = "write a time as 25ms, 500us or 1.5s (at most an hour)";
    let seconds = quantity(value, TIME_UNITS, MAX_TIME_S);
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| bad(key, value, remedy))
}

fn loss(value: &str) -> Result<f64, SpecError> {
    let remedy = "write a loss probability as 1% or 0.5%, from 0% to 100%";
    quantity(value, &[("%", 0.01)], 1.0).ok_or_else(|| bad("loss", value, remedy))
}

fn queue(value: &str) -> Result<QueueLimit, SpecError> {
    let remedy = "write a queue limit as 2bdp (bandwidth times round trip), 60kB or 300ms";
    if let Some(factor) = quantity(value, &[("bdp", 1.0)], MAX_BDP) {
        return Ok(QueueLimit::Bdp(factor));
    }
    if let Some(bytes) = quantity(value, SIZE_UNITS, MAX_BYTES) {
        return Ok(QueueLimit::Bytes(Bytes(bytes.round() as u64)));
    }
    time("queue", value)
        .map(QueueLimit::Time)
        .map_err(|_| bad("queue", value, remedy))
}

fn aqm(value: &str) -> Result<(), SpecError> {
    match value {
        "droptail" => Ok(()),
        "codel" | "fq_codel" | "pie" | "dualpi2" => {
            Err(later("aqm", value, "leave aqm away or write aqm=droptail"))
        }
        _ => Err(bad("aqm", value, "the queue discipline is droptail")),
    }
}

/// A decimal number and its unit, scaled; `None` unless it is from zero to
/// `max`.
fn quantity(value: &str, units: Units, max: f64) -> Option<f64> {
    let (number, factor) = units
        .iter()
        .find_map(|(unit, factor)| Some((value.strip_suffix(unit)?, factor)))?;
    // Only digits and a point: `f64` also reads "inf", "nan", "1e9" and signs.
    if !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let scaled = number.parse::<f64>().ok()? * factor;
    (scaled <= max).then_some(scaled)
}

fn bad(key: &'static str, value: &str, remedy: &'static str) -> SpecError {
    let value = value.into();
    SpecError::BadValue { key, value, remedy }
}

fn later(key: &'static str, value: &str, remedy: &'static str) -> SpecError {
    let value = value.into();
    SpecError::NotSupportedYet { key, value, remedy }
}

/// The text form; a schedule, which has none, is shown by its highest rate.
impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.capacity.highest().as_bps();
        match rate {
            0 => write!(f, "rate=0bit")?,
            _ if rate.is_multiple_of(1_000_000) => write!(f, "rate={}mbit", rate / 1_000_000)?,
            _ if rate.is_multiple_of(1_000) => write!(f, "rate={}kbit", rate / 1_000)?,
            _ => write!(f, "rate={rate}bit")?,
        }
        write!(f, ",delay={}ms", self.delay.as_millis_f64())?;
        match self.queue {
            QueueLimit::Bytes(bytes) => write!(f, ",queue={}B", bytes.0)?,
            QueueLimit::Time(time) => write!(f, ",queue={}ms", time.as_millis_f64())?,
            QueueLimit::Bdp(factor) => write!(f, ",queue={factor}bdp")?,
        }
        if self.loss > 0.0 {
            write!(f, ",loss={}%", self.loss * 100.0)?;
        }
        if self.jitter > Duration::ZERO {
            write!(f, ",jitter={}ms", self.jitter.as_millis_f64())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
