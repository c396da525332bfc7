use std::fmt;
use weft_units::Bytes;

/// Reason why a link dropped a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum DropReason {
    /// The queue had no room for it on arrival.
    QueueFull,
    /// The queue discipline dropped it to keep the queue short.
    Aqm,
    /// It was transmitted and lost on the line.
    RandomLoss,
    /// It was transmitted and lost on the line, in a burst of losses.
    BurstLoss,
    /// It was sent as often as the medium allows, but never answered.
    Retries,
    /// The link was down when it arrived, or went down before the transmission.
    LinkDown,
}

/// Number of packets and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of packets, regardless of size.
    pub packets: u64,
    /// Bytes of these packets, as given to the link.
    pub bytes: Bytes,
}

/// Totals of a link so far: `sent = delivered + dropped + in flight`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets handed to the link.
    pub sent: Tally,
    /// Packets delivered.
    pub delivered: Tally,
    /// Packets dropped because the queue was full.
    pub queue_full: Tally,
    /// Packets dropped by the queue discipline.
    pub aqm: Tally,
    /// Packets dropped by random loss.
    pub random_loss: Tally,
    /// Packets dropped by burst loss.
    pub burst_loss: Tally,
    /// Packets dropped after the last retry.
    pub retries: Tally,
    /// Packets dropped because the link was down.
    pub link_down: Tally,
    /// Packets marked "congestion experienced" by the queue discipline; each of these is
    /// also delivered or dropped.
    pub marked: Tally,
}

impl DropReason {
    /// Returns the reason in snake case, for tables.
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
    /// Returns all dropped packets, for any reason.
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
