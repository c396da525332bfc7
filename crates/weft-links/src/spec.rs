mod show;
mod values;

use crate::{Aqm, Capacity, EcnMarking, GilbertElliott, QueueLimit};
use std::str::FromStr;
use values::AqmName;
use weft_units::{Bytes, Duration, Rate};

/// RFC 8867's default bottleneck queue.
const DEFAULT_QUEUE: QueueLimit = QueueLimit::Time(Duration::from_millis(300));
const KEYS: &str = "rate, delay, loss, burst-loss, queue, jitter, aqm, ecn, burst";

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
    /// `burst-loss=2%/5`: losses in bursts, beside the random ones. Default
    /// none.
    pub burst_loss: Option<GilbertElliott>,
    /// `queue=2bdp|60kB|300ms`: what may wait. Default 300 ms (RFC 8867).
    pub queue: QueueLimit,
    /// `aqm=droptail|codel|fq_codel|pie|dualpi2`, `ecn=on|off`: the queue discipline and whether it
    /// marks. Default drop-tail.
    pub aqm: Aqm,
    /// `burst=30kB`: depth of a token bucket that fills at the link's rate
    /// while nothing is transmitted; what it covers is transmitted at once.
    /// Default none.
    pub burst: Bytes,
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
            burst_loss: None,
            queue: DEFAULT_QUEUE,
            aqm: Aqm::DropTail,
            burst: Bytes::ZERO,
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
    burst_loss: Option<GilbertElliott>,
    queue: Option<QueueLimit>,
    aqm: Option<AqmName>,
    ecn: Option<EcnMarking>,
    burst: Option<Bytes>,
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
        spec.burst_loss = parts.burst_loss;
        spec.queue = parts.queue.unwrap_or(DEFAULT_QUEUE);
        spec.aqm = values::aqm_with(parts.aqm.unwrap_or(AqmName::DropTail), parts.ecn)?;
        spec.burst = parts.burst.unwrap_or_default();
        if let QueueLimit::Bdp(factor) = spec.queue
            && spec.delay == Duration::ZERO
        {
            let value = format!("{factor}bdp");
            let remedy = "a bandwidth-delay product needs a delay: add delay=25ms, or give the \
                          queue in bytes or time";
            return Err(values::bad("queue", &value, remedy));
        }
        Ok(spec)
    }
}

impl Parts {
    fn read(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        match key {
            "rate" => set(&mut self.rate, "rate", values::rate(value)?),
            "delay" => set(&mut self.delay, "delay", values::time("delay", value)?),
            "jitter" => set(&mut self.jitter, "jitter", values::time("jitter", value)?),
            "loss" => set(&mut self.loss, "loss", values::loss(value)?),
            "queue" => set(&mut self.queue, "queue", values::queue(value)?),
            "aqm" => set(&mut self.aqm, "aqm", values::aqm(value)?),
            "ecn" => set(&mut self.ecn, "ecn", values::ecn(value)?),
            "burst" => set(&mut self.burst, "burst", values::burst(value)?),
            "trace" => Err(later("trace", value, "give a constant rate=5mbit")),
            "burst-loss" => {
                let model = values::burst_loss(value)?;
                set(&mut self.burst_loss, "burst-loss", model)
            }
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

fn later(key: &'static str, value: &str, remedy: &'static str) -> SpecError {
    let value = value.into();
    SpecError::NotSupportedYet { key, value, remedy }
}

#[cfg(test)]
mod tests;
