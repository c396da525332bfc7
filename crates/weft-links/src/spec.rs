mod error;
mod keys;
mod show;
pub(crate) mod values;

use crate::{Aqm, Capacity, EcnMarking, Generated, GilbertElliott, QueueLimit, Trace};
use std::fmt::Display;
use std::str::FromStr;
use values::AqmName;
use weft_units::{Bytes, Duration, Instant, Rate};

pub use error::SpecError;

/// Default bottleneck queue of RFC 8867.
const DEFAULT_QUEUE: QueueLimit = QueueLimit::Time(Duration::from_millis(300));

/// One direction of a link in its text form:
/// `rate=5mbit,delay=25ms,loss=1%,queue=2bdp,jitter=5ms`.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkSpec {
    /// Transmission rate: `rate=5mbit`, `trace=FILE` or
    /// `trace=generated:walking/lte`. The text form requires one of them;
    /// schedules are available in code only.
    pub capacity: Capacity,
    /// `delay=25ms`: one-way propagation delay without the queue. Default zero.
    pub delay: Duration,
    /// `jitter=5ms`: standard deviation of the propagation delay, Gaussian, truncated at
    /// three deviations and at zero delay, without reordering (RFC 8868). Default none.
    pub jitter: Duration,
    /// `loss=1%`: probability, 0 to 1, that a transmitted packet is lost,
    /// independently of others. Default zero.
    pub loss: f64,
    /// `burst-loss=2%/5`: losses in bursts, in addition to random ones. Default none.
    pub burst_loss: Option<GilbertElliott>,
    /// `queue=2bdp|60kB|300ms`: limit of the queue. Default 300 ms (RFC 8867).
    pub queue: QueueLimit,
    /// `aqm=droptail|codel|fq_codel|pie|dualpi2`, `ecn=on|off`: the queue discipline and whether it
    /// marks. Default drop-tail.
    pub aqm: Aqm,
    /// `burst=30kB`: depth of a token bucket that fills at the link's rate
    /// while the link is idle; packets that it covers are transmitted at once.
    /// Default none.
    pub burst: Bytes,
    /// Changes of delay and loss during the run, in order of time; available in
    /// code only. Default none.
    pub line_steps: Vec<LineStep>,
}

/// Change of the line from the transmitter to the other end, effective from a given time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LineStep {
    /// Time since the run's epoch; applies to packets that leave the
    /// transmitter from then on.
    pub at: Duration,
    /// One-way propagation delay; `None`: unchanged.
    pub delay: Option<Duration>,
    /// Probability, 0 to 1, that a packet is lost; `None`: unchanged.
    pub loss: Option<f64>,
}

impl LinkSpec {
    /// Keys of a link specification in text form.
    pub const KEYS: &[&str] = keys::KEYS;

    /// Remedy for a link [without any capacity](Capacity::is_zero), which is an error in
    /// a specification that a person wrote; code may create such a link.
    pub const NEVER_CARRIES: &str = "rate=0: such a link never carries anything: give it a rate, or \
                                     loss=100% for one that loses everything; for outages use a trace \
                                     with zeros, or `steps` in a scenario file";

    /// Creates a link with this capacity and one-way delay, without loss and jitter, and
    /// with the default queue.
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
            line_steps: Vec::new(),
        }
    }

    /// Returns the propagation delay without jitter, and the probability, 0 to 1, of a
    /// random loss for a packet that leaves the transmitter at this time.
    #[must_use]
    pub fn line_at(&self, at: Instant) -> (Duration, f64) {
        let steps = self.line_steps.iter();
        let begun = steps.take_while(|step| Instant::ZERO + step.at <= at);
        begun.fold((self.delay, self.loss), |(delay, loss), step| {
            (step.delay.unwrap_or(delay), step.loss.unwrap_or(loss))
        })
    }

    /// Returns the configured limit of the queue at the reference capacity
    /// ([`Capacity::reference`]); a real queue has at least [`QueueLimit::LEAST`].
    #[must_use]
    pub fn configured_queue(&self) -> Bytes {
        self.queue.configured(&self.capacity, self.delay)
    }

    /// Returns the waiting time of the last packet in a full queue; `None` if the
    /// capacity changes.
    #[must_use]
    pub fn longest_wait(&self) -> Option<Duration> {
        let Capacity::Constant(rate) = self.capacity else {
            return None;
        };
        rate.time_for(self.configured_queue().max(QueueLimit::LEAST))
    }

    /// Reads a specification that may name a trace file. This crate reads no files:
    /// `read` returns the text of the named file, for example `|file|
    /// std::fs::read_to_string(file)`.
    ///
    /// # Errors
    /// Names the key, the value and the remedy; for a trace also line and column.
    pub fn parse<E: Display>(
        text: &str,
        mut read: impl FnMut(&str) -> Result<String, E>,
    ) -> Result<LinkSpec, SpecError> {
        let mut read = |file: &str| read(file).map_err(|e| e.to_string());
        Parts::of(text)?.spec(Some(&mut read))
    }
}

/// Values as read; each key at most once.
#[derive(Default)]
struct Parts<'a> {
    rate: Option<Rate>,
    trace: Option<&'a str>,
    delay: Option<Duration>,
    jitter: Option<Duration>,
    loss: Option<f64>,
    burst_loss: Option<GilbertElliott>,
    queue: Option<QueueLimit>,
    aqm: Option<AqmName>,
    ecn: Option<EcnMarking>,
    burst: Option<Bytes>,
}

/// Function that returns the text of a file.
type Read<'a> = &'a mut dyn FnMut(&str) -> Result<String, String>;

/// Reads a specification without trace files; use [`LinkSpec::parse`] for those.
impl FromStr for LinkSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<LinkSpec, SpecError> {
        Parts::of(text)?.spec(None)
    }
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Parts<'a>, SpecError> {
        let mut parts = Parts::default();
        for item in text.split(',').map(str::trim) {
            let (key, value) = item
                .split_once('=')
                .ok_or_else(|| SpecError::NotKeyValue { item: item.into() })?;
            parts.read(key.trim(), value.trim())?;
        }
        Ok(parts)
    }

    fn read(&mut self, key: &str, value: &'a str) -> Result<(), SpecError> {
        match key {
            "rate" => set(&mut self.rate, "rate", values::rate(value)?),
            "trace" => set(&mut self.trace, "trace", value),
            "delay" => set(&mut self.delay, "delay", values::time("delay", value)?),
            "jitter" => set(&mut self.jitter, "jitter", values::time("jitter", value)?),
            "loss" => set(&mut self.loss, "loss", values::loss(value)?),
            "burst-loss" => {
                let model = values::burst_loss(value)?;
                set(&mut self.burst_loss, "burst-loss", model)
            }
            "queue" => set(&mut self.queue, "queue", values::queue(value)?),
            "aqm" => set(&mut self.aqm, "aqm", values::aqm(value)?),
            "ecn" => set(&mut self.ecn, "ecn", values::ecn(value)?),
            "burst" => set(&mut self.burst, "burst", values::burst(value)?),
            _ => Err(SpecError::UnknownKey { key: key.into() }),
        }
    }

    fn spec(self, read: Option<Read<'_>>) -> Result<LinkSpec, SpecError> {
        let capacity = match (self.rate, self.trace) {
            (Some(rate), None) => Capacity::Constant(rate),
            (None, Some(trace)) => trace_of(trace, read)?,
            (Some(_), Some(_)) => return Err(SpecError::RateAndTrace),
            (None, None) => {
                let (key, example) = ("rate", "rate=5mbit");
                return Err(SpecError::Missing { key, example });
            }
        };
        let delay = self.delay.unwrap_or_default();
        if let Some(QueueLimit::Bdp(factor)) = self.queue
            && delay == Duration::ZERO
        {
            let value = format!("{factor}bdp");
            let remedy = "a bandwidth-delay product needs a delay: add delay=25ms, or give the \
                          queue in bytes or time";
            return Err(values::bad("queue", &value, remedy));
        }
        Ok(LinkSpec {
            jitter: self.jitter.unwrap_or_default(),
            loss: self.loss.unwrap_or_default(),
            burst_loss: self.burst_loss,
            queue: self.queue.unwrap_or(DEFAULT_QUEUE),
            aqm: values::aqm_with(self.aqm.unwrap_or(AqmName::DropTail), self.ecn)?,
            burst: self.burst.unwrap_or_default(),
            ..LinkSpec::new(capacity, delay)
        })
    }
}

fn trace_of(name: &str, read: Option<Read<'_>>) -> Result<Capacity, SpecError> {
    if name.starts_with(Generated::PREFIX) {
        return Ok(name.parse::<Generated>()?.into());
    }
    let file = || name.to_owned();
    let read = read.ok_or_else(|| SpecError::NoFiles { file: file() })?;
    let text = read(name).map_err(|cause| SpecError::TraceUnread {
        file: file(),
        cause,
    })?;
    Ok(Trace::parse(name, &text)?.into())
}

fn set<T>(slot: &mut Option<T>, key: &'static str, value: T) -> Result<(), SpecError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(SpecError::Repeated { key }),
    }
}

#[cfg(test)]
mod tests;
