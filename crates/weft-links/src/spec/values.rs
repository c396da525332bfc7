//! Values of a link specification, each with its remedy.

use super::error::SpecError;
use crate::{Aqm, EcnMarking, GilbertElliott, QueueLimit};
use weft_units::{Bytes, Duration, Rate, quantity};

/// Largest accepted values; chosen by us, so that arithmetic on the clock never comes
/// near its range.
const LONGEST: Duration = Duration::from_secs(3_600);
const MAX_BDP: f64 = 1_000.0;
const MAX_BURST_PACKETS: f64 = 1e6;

/// Name of a queue discipline; its ECN setting is a separate key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum AqmName {
    DropTail,
    CoDel,
    FqCodel,
    Pie,
    DualPi2,
}

pub(crate) fn rate(value: &str) -> Result<Rate, SpecError> {
    let remedy =
        "write a rate as 5mbit, 500kbit, 1gbit or 9600bit (powers of ten, at most 1 Tbit/s)";
    quantity::rate(value).ok_or_else(|| bad("rate", value, remedy))
}

pub(crate) fn time(key: &'static str, value: &str) -> Result<Duration, SpecError> {
    let remedy = "write a time as 25ms, 500us or 1.5s (at most an hour)";
    quantity::time(value)
        .filter(|time| *time <= LONGEST)
        .ok_or_else(|| bad(key, value, remedy))
}

pub(crate) fn loss(value: &str) -> Result<f64, SpecError> {
    let remedy = "write a loss probability as 1% or 0.5%, from 0% to 100%";
    percentage(value).ok_or_else(|| bad("loss", value, remedy))
}

/// Reads `SHARE%/LENGTH`, or the chain's probabilities in percent: to bad, to
/// good, loss when bad and, if not zero, loss when good.
pub(crate) fn burst_loss(value: &str) -> Result<GilbertElliott, SpecError> {
    let remedy = "write 2%/5 (2% of all packets, in bursts of 5), or the probabilities to become \
                  bad and good again and of a loss when bad and when good: 0.4%/20%/100%/0%";
    let bad = || bad("burst-loss", value, remedy);
    let parts: Vec<&str> = value.split('/').collect();
    if let [share, length] = parts[..]
        && !length.ends_with('%')
    {
        let share = percentage(share).ok_or_else(bad)?;
        let length = quantity::decimal(length).filter(|l| *l <= MAX_BURST_PACKETS);
        let model = GilbertElliott::of_bursts(share, length.ok_or_else(bad)?);
        return model.ok_or_else(bad);
    }
    let percentages: Option<Vec<f64>> = parts.into_iter().map(percentage).collect();
    match percentages.as_deref() {
        Some([to_bad, to_good, bad_loss, rest @ ..]) if rest.len() <= 1 => Ok(GilbertElliott {
            to_bad: *to_bad,
            to_good: *to_good,
            bad_loss: *bad_loss,
            good_loss: rest.first().copied().unwrap_or_default(),
        }),
        _ => Err(bad()),
    }
}

pub(crate) fn queue(value: &str) -> Result<QueueLimit, SpecError> {
    let remedy = "write a queue limit as 2bdp (bandwidth times round trip), 60kB or 300ms";
    let factor = value.strip_suffix("bdp").and_then(quantity::decimal);
    if let Some(factor) = factor.filter(|factor| *factor <= MAX_BDP) {
        return Ok(QueueLimit::Bdp(factor));
    }
    if let Some(bytes) = quantity::size(value) {
        return Ok(QueueLimit::Bytes(bytes));
    }
    time("queue", value)
        .map(QueueLimit::Time)
        .map_err(|_| bad("queue", value, remedy))
}

pub(crate) fn burst(value: &str) -> Result<Bytes, SpecError> {
    let remedy = "write the depth of the token bucket as 30kB or 1500B";
    quantity::size(value).ok_or_else(|| bad("burst", value, remedy))
}

pub(crate) fn aqm(value: &str) -> Result<AqmName, SpecError> {
    match value {
        "droptail" => Ok(AqmName::DropTail),
        "codel" => Ok(AqmName::CoDel),
        "fq_codel" => Ok(AqmName::FqCodel),
        "pie" => Ok(AqmName::Pie),
        "dualpi2" => Ok(AqmName::DualPi2),
        _ => Err(bad(
            "aqm",
            value,
            "the queue disciplines are droptail, codel, fq_codel, pie and dualpi2",
        )),
    }
}

pub(crate) fn ecn(value: &str) -> Result<EcnMarking, SpecError> {
    match value {
        "on" => Ok(EcnMarking::On),
        "off" => Ok(EcnMarking::Off),
        _ => Err(bad("ecn", value, "write ecn=on or ecn=off")),
    }
}

/// Returns the discipline with this name and ECN setting.
pub(crate) fn aqm_with(name: AqmName, ecn: Option<EcnMarking>) -> Result<Aqm, SpecError> {
    let or = |default| ecn.unwrap_or(default);
    match (name, ecn) {
        (AqmName::DropTail, Some(EcnMarking::On)) => Err(bad(
            "ecn",
            "on",
            "drop-tail never marks: add aqm=codel, or leave ecn away",
        )),
        (AqmName::DropTail, _) => Ok(Aqm::DropTail),
        (AqmName::DualPi2, Some(EcnMarking::Off)) => Err(bad(
            "ecn",
            "off",
            "dualpi2 works by marks: leave ecn away, or write aqm=pie",
        )),
        (AqmName::DualPi2, _) => Ok(Aqm::DualPi2),
        (AqmName::CoDel, _) => Ok(Aqm::CoDel(or(EcnMarking::Off))),
        (AqmName::Pie, _) => Ok(Aqm::Pie(or(EcnMarking::Off))),
        // Default as deployed (Linux, tc-fq_codel(8)).
        (AqmName::FqCodel, _) => Ok(Aqm::FqCodel(or(EcnMarking::On))),
    }
}

pub(crate) fn percentage(value: &str) -> Option<f64> {
    quantity::share(value).filter(|share| *share <= 1.0)
}

pub(crate) fn bad(key: &'static str, value: &str, remedy: &'static str) -> SpecError {
    let value = value.into();
    SpecError::BadValue { key, value, remedy }
}
