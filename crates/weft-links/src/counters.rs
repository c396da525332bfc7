use std::fmt;
use weft_units::Bytes;

/// Why a packet ended on the link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DropReason {
    /// The queue had no room for it on arrival.
    QueueFull,
    /// The queue discipline dropped it to keep the queue short.
    Aqm,
    /// It was transmitted and lost on the way.
    RandomLoss,
    /// It was transmitted and lost on the way, in a burst of losses.
    BurstLoss,
    /// It was sent as often as its medium allows, and nobody answered.
    Retries,
    /// The link was down on its arrival, or went down before it was
    /// transmitted.
    LinkDown,
}

/// A number of packets and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// How many, whatever their sizes.
    pub packets: u64,
    /// Bytes of these packets, as given to the link.
    pub bytes: Bytes,
}

/// What a link has taken and given back so far:
/// `sent = delivered + dropped + in flight`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Given to the link.
    pub sent: Tally,
    /// Given back as delivered.
    pub delivered: Tally,
    /// Given back as dropped because the queue was full.
    pub queue_full: Tally,
    /// Given back as dropped by the queue discipline.
    pub aqm: Tally,
    /// Given back as dropped by random loss.
    pub random_loss: Tally,
    /// Given back as dropped by burst loss.
    pub burst_loss: Tally,
    /// Given back as dropped because nobody answered.
    pub retries: Tally,
    /// Given back as dropped because the link was down.
    pub link_down: Tally,
    /// Marked with congestion experienced by the queue discipline; each ends
    /// as delivered or dropped too.
    pub marked: Tally,
}

impl DropReason {
    /// The reason in snake case, for tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DropReason::QueueFull => "queue_full",
            DropReason::Aqm => "aqm",
            DropReason::RandomLoss => "random_loss",
            DropReason::BurstLoss => "burst_loss",
            DropReason::Retries => "retries",
            DropReason::LinkDown => "link_down",
        }
    }
}

impl fmt::Display for DropReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Tally {
    pub(crate) fn add(&mut self, size: Bytes) {
        self.packets += 1;
        self.bytes += size;
    }
}

impl std::ops::Add for Tally {
    type Output = Tally;
    fn add(self, o: Tally) -> Tally {
        Tally {
            packets: self.packets + o.packets,
            bytes: self.bytes + o.bytes,
        }
    }
}

impl Counters {
    /// Everything given back as dropped, for whatever reason.
    #[must_use]
    pub fn dropped(&self) -> Tally {
        self.queue_full
            + self.aqm
            + self.random_loss
            + self.burst_loss
            + self.retries
            + self.link_down
    }

    pub(crate) fn on_drop(&mut self, reason: DropReason, size: Bytes) {
        match reason {
            DropReason::QueueFull => self.queue_full.add(size),
            DropReason::Aqm => self.aqm.add(size),
            DropReason::RandomLoss => self.random_loss.add(size),
            DropReason::BurstLoss => self.burst_loss.add(size),
            DropReason::Retries => self.retries.add(size),
            DropReason::LinkDown => self.link_down.add(size),
        }
    }
}
