use super::LinkSpec;
use crate::{Aqm, Capacity, QueueLimit};
use std::fmt;
use weft_units::{Bytes, Duration, Rate};

/// Writes the text form; a schedule, which has no text form, appears as its highest rate.
impl fmt::Display for LinkSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.capacity {
            Capacity::Constant(_) | Capacity::Schedule(_) => {
                show_rate(f, self.capacity.reference())?;
            }
            Capacity::Trace(trace) => write!(f, "trace={}", trace.name())?,
            Capacity::Generated(generated) => write!(f, "trace={generated}")?,
        }
        write!(f, ",delay={}ms", self.delay.as_millis_f64())?;
        match self.queue {
            QueueLimit::Bytes(bytes) => write!(f, ",queue={}B", bytes.0)?,
            QueueLimit::Time(time) => write!(f, ",queue={}ms", time.as_millis_f64())?,
            QueueLimit::Bdp(factor) => write!(f, ",queue={factor}bdp")?,
        }
        if self.aqm != Aqm::DropTail {
            write!(f, ",aqm={}", self.aqm)?;
        }
        if self.burst > Bytes::ZERO {
            write!(f, ",burst={}B", self.burst.0)?;
        }
        if self.loss > 0.0 {
            write!(f, ",loss={}%", self.loss * 100.0)?;
        }
        if let Some(model) = self.burst_loss {
            write!(f, ",burst-loss={model}")?;
        }
        if self.jitter > Duration::ZERO {
            write!(f, ",jitter={}ms", self.jitter.as_millis_f64())?;
        }
        Ok(())
    }
}

fn show_rate(f: &mut fmt::Formatter<'_>, rate: Rate) -> fmt::Result {
    let bps = rate.as_bps();
    match bps {
        0 => write!(f, "rate=0bit"),
        _ if bps.is_multiple_of(1_000_000) => write!(f, "rate={}mbit", bps / 1_000_000),
        _ if bps.is_multiple_of(1_000) => write!(f, "rate={}kbit", bps / 1_000),
        _ => write!(f, "rate={bps}bit"),
    }
}
