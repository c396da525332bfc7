//! RTP times of two streams on one time axis.

use std::collections::BTreeMap;

use weft_units::{Duration, Instant};

/// Maps one stream's RTP timestamps to nanoseconds on the receiver's clock: the first
/// packet has its arrival time, and the others are relative to it.
pub struct Timeline {
    clock_rate: u32,
    /// Last timestamp and its position. Positions count the stream's ticks since the
    /// first packet, so that rounding errors do not add up.
    last: Option<(u32, i64)>,
    origin: u64,
}

/// Difference between timestamp and arrival above which the sender is assumed to have
/// restarted.
const MAX_STRAY: Duration = Duration::from_secs(10);

impl Timeline {
    pub fn new(clock_rate: u32) -> Timeline {
        Timeline {
            clock_rate,
            last: None,
            origin: 0,
        }
    }

    pub fn place(&mut self, now: Instant, timestamp: u32) -> u64 {
        let ticks = match self.last {
            Some((last, ticks)) => ticks + i64::from(timestamp.wrapping_sub(last) as i32),
            None => 0,
        };
        let offset = i128::from(ticks) * 1_000_000_000 / i128::from(self.clock_rate);
        let at = i128::from(self.origin) + offset;
        let stray = (at - i128::from(now.as_nanos())).unsigned_abs();
        if self.last.is_none() || stray > u128::from(MAX_STRAY.as_nanos()) {
            self.origin = now.as_nanos();
            self.last = Some((timestamp, 0));
            return self.origin;
        }
        self.last = Some((timestamp, ticks));
        u64::try_from(at).unwrap_or(0)
    }
}

/// A frame or packet with its position.
pub struct Sample {
    pub at: u64,
    pub kind: Kind,
    pub data: Vec<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Video { keyframe: bool },
    Audio,
}

/// Sorts samples of both streams, because a container requires a single order in time.
#[derive(Default)]
pub struct Queue {
    samples: BTreeMap<(u64, u64), Sample>,
    pushed: u64,
}

/// Time for which a sample waits for earlier ones of the other stream.
const HOLD: Duration = Duration::from_millis(500);

impl Queue {
    pub fn push(&mut self, at: u64, kind: Kind, data: Vec<u8>) {
        self.pushed += 1;
        self.samples
            .insert((at, self.pushed), Sample { at, kind, data });
    }

    /// Removes the earliest sample if it has waited long enough. Without `now`, removes
    /// it at once.
    pub fn pop(&mut self, now: Option<Instant>) -> Option<Sample> {
        let first = self.samples.first_entry()?;
        let due =
            now.is_none_or(|now| now.saturating_since(Instant::from_nanos(first.get().at)) >= HOLD);
        due.then(|| first.remove())
    }
}
