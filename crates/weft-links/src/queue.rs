use crate::{Capacity, Counters, DropReason, Ecn, PacketInfo};
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

/// Limit of the queue, at least [`QueueLimit::LEAST`] for any configuration. The packet
/// being transmitted does not count; an idle link always takes a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QueueLimit {
    /// Limit in bytes.
    Bytes(Bytes),
    /// Bytes that the link transmits in this time at its current capacity (in an outage:
    /// at the capacity before it; for a trace: at its mean capacity). When the capacity
    /// falls, waiting packets stay, and new ones are rejected until there is room.
    Time(Duration),
    /// Limit in bandwidth-delay products: [`Capacity::reference`] times twice
    /// the one-way delay, both as configured. The number of bytes does not
    /// follow the capacity.
    Bdp(f64),
}

/// Limit of a queue, as configured and currently in bytes.
pub(crate) struct Limit {
    configured: QueueLimit,
    bytes: Bytes,
}

/// Packet with the properties that the link needs.
pub(crate) struct Item<P> {
    pub packet: P,
    pub info: PacketInfo,
    pub enqueued: Instant,
}

/// Packets in the order of arrival, and their total bytes.
pub(crate) struct Fifo<P> {
    items: VecDeque<Item<P>>,
    bytes: Bytes,
}

/// Packets that end before their transmission, and the counters.
pub(crate) struct Exits<P> {
    pub refused: VecDeque<Refused<P>>,
    pub counters: Counters,
}

/// Packet that ended before its transmission.
pub(crate) struct Refused<P> {
    pub item: Item<P>,
    pub at: Instant,
    pub reason: DropReason,
}

impl QueueLimit {
    /// Ethernet frame with 1500 bytes of payload, header included. A smaller
    /// queue holds no full packet (half of 0.5 Mbit/s and 30 ms is 938 bytes,
    /// in Sander et al.).
    pub const LEAST: Bytes = Bytes(1514);

    /// Returns the configured limit, which may be below [`QueueLimit::LEAST`].
    pub(crate) fn configured(self, capacity: &Capacity, delay: Duration) -> Bytes {
        let reference = capacity.reference();
        match self {
            QueueLimit::Bytes(bytes) => bytes,
            QueueLimit::Time(time) => reference * time,
            QueueLimit::Bdp(factor) => {
                let product = reference * (delay * 2);
                Bytes((product.0 as f64 * factor).round() as u64)
            }
        }
    }
}

impl Limit {
    pub fn new(configured: QueueLimit, capacity: &Capacity, delay: Duration) -> Limit {
        Limit {
            configured,
            bytes: configured
                .configured(capacity, delay)
                .max(QueueLimit::LEAST),
        }
    }

    /// Adjusts the limit to a new rate of the link.
    pub fn on_rate(&mut self, rate: Rate) {
        if let QueueLimit::Time(time) = self.configured
            && rate > Rate::ZERO
        {
            self.bytes = (rate * time).max(QueueLimit::LEAST);
        }
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

impl<P> Item<P> {
    /// Returns the waiting time so far.
    pub fn age(&self, now: Instant) -> Duration {
        now.saturating_since(self.enqueued)
    }
}

impl<P> Fifo<P> {
    pub fn new() -> Fifo<P> {
        Fifo {
            items: VecDeque::new(),
            bytes: Bytes::ZERO,
        }
    }

    pub fn push(&mut self, item: Item<P>) {
        self.bytes += item.info.size;
        self.items.push_back(item);
    }

    pub fn pop(&mut self) -> Option<Item<P>> {
        let item = self.items.pop_front()?;
        self.bytes -= item.info.size;
        Some(item)
    }

    /// Returns the waiting time of the first packet; zero if there is none.
    pub fn age(&self, now: Instant) -> Duration {
        self.items.front().map_or(Duration::ZERO, |i| i.age(now))
    }

    /// Returns the arrival time of the first packet.
    pub fn oldest(&self) -> Option<Instant> {
        Some(self.items.front()?.enqueued)
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub fn len(&self) -> usize {
        self.items.len()
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl<P> Exits<P> {
    pub fn new() -> Exits<P> {
        Exits {
            refused: VecDeque::new(),
            counters: Counters::default(),
        }
    }

    pub fn drop(&mut self, at: Instant, item: Item<P>, reason: DropReason) {
        self.refused.push_back(Refused { item, at, reason });
    }

    /// Marks an ECN-capable packet. A packet that was already marked also counts, because
    /// the discipline used it to signal congestion.
    pub fn mark(&mut self, item: &mut Item<P>) {
        item.info.ecn = Ecn::Ce;
        self.counters.marked.add(item.info.size);
    }
}
