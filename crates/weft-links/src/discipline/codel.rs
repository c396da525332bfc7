use super::droptail::fits;
use super::marking::{EcnMarking, signal};
use crate::DropReason;
use crate::queue::{Exits, Fifo, Item};
use weft_units::{Bytes, Duration, Instant};

/// Acceptable standing delay (RFC 8289 section 4).
const TARGET: Duration = Duration::from_millis(5);
/// Time for which the delay must stay above the target; about the longest
/// expected round trip (RFC 8289 section 4).
const INTERVAL: Duration = Duration::from_millis(100);
/// Number of intervals: after a shorter pause, the next dropping cycle starts at the drop
/// rate of the previous one (RFC 8289 section 5.5).
const MEMORY_INTERVALS: u64 = 16;

/// Queue under CoDel (RFC 8289 section 5).
pub(crate) struct CoDel<P> {
    pub fifo: Fifo<P>,
    control: Control,
    marking: EcnMarking,
}

/// CoDel state of one queue.
#[derive(Default)]
pub(super) struct Control {
    /// Time at which the delay will have exceeded the target for an interval.
    above_until: Option<Instant>,
    /// Time of the next drop, while dropping.
    next_drop: Instant,
    dropping: bool,
    count: u64,
    last_count: u64,
    /// Longest packet so far; this many bytes may always wait.
    longest: Bytes,
}

enum Verdict {
    Keep,
    MayDrop,
}

impl<P> CoDel<P> {
    pub fn new(marking: EcnMarking) -> CoDel<P> {
        CoDel {
            fifo: Fifo::new(),
            control: Control::default(),
            marking,
        }
    }

    pub fn push(&mut self, item: Item<P>, limit: Bytes, exits: &mut Exits<P>) {
        if fits(self.fifo.bytes(), item.info.size, limit) {
            self.fifo.push(item);
        } else {
            exits.drop(item.enqueued, item, DropReason::QueueFull);
        }
    }

    pub fn pop(&mut self, now: Instant, exits: &mut Exits<P>) -> Option<Item<P>> {
        self.control.pop(&mut self.fifo, self.marking, now, exits)
    }
}

impl Control {
    /// Returns the next packet of a queue to transmit. Packets dropped before
    /// it leave through `exits`.
    pub fn pop<P>(
        &mut self,
        fifo: &mut Fifo<P>,
        marking: EcnMarking,
        now: Instant,
        exits: &mut Exits<P>,
    ) -> Option<Item<P>> {
        let (mut item, mut verdict) = self.take(fifo, now)?;
        if !self.dropping {
            if let Verdict::Keep = verdict {
                return Some(item);
            }
            self.begin(now);
            let kept = signal(item, marking, now, exits);
            return kept.or_else(|| self.take(fifo, now).map(|(item, _)| item));
        }
        loop {
            if let Verdict::Keep = verdict {
                self.dropping = false;
            }
            if !self.dropping || now < self.next_drop {
                return Some(item);
            }
            self.count += 1;
            if let Some(item) = signal(item, marking, now, exits) {
                self.next_drop += self.spacing();
                return Some(item);
            }
            let Some(next) = self.take(fifo, now) else {
                self.dropping = false;
                return None;
            };
            (item, verdict) = next;
            if let Verdict::MayDrop = verdict {
                self.next_drop += self.spacing();
            }
        }
    }

    /// Starts dropping, with the current packet.
    fn begin(&mut self, now: Instant) {
        self.dropping = true;
        let recent = now.saturating_since(self.next_drop) < INTERVAL * MEMORY_INTERVALS;
        let since = self.count - self.last_count;
        self.count = if recent && since > 1 { since } else { 1 };
        self.last_count = self.count;
        self.next_drop = now + self.spacing();
    }

    /// Returns the interval between drops by the control law: it shrinks with the square
    /// root of their number.
    fn spacing(&self) -> Duration {
        INTERVAL.mul_f64(1.0 / (self.count as f64).sqrt())
    }

    fn take<P>(&mut self, fifo: &mut Fifo<P>, now: Instant) -> Option<(Item<P>, Verdict)> {
        let Some(item) = fifo.pop() else {
            self.above_until = None;
            return None;
        };
        self.longest = self.longest.max(item.info.size);
        if item.age(now) < TARGET || fifo.bytes() <= self.longest {
            self.above_until = None;
            return Some((item, Verdict::Keep));
        }
        let until = *self.above_until.get_or_insert(now + INTERVAL);
        // The interval has just started at its first packet; it must pass first.
        let verdict = match now >= until {
            true => Verdict::MayDrop,
            false => Verdict::Keep,
        };
        Some((item, verdict))
    }
}
