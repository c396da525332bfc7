use crate::{Capacity, Counters, DropReason, Ecn, PacketInfo};
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

/// How much may wait for transmission, [`QueueLimit::LEAST`] whatever is
/// configured. The packet being transmitted does not count; an idle link always
/// takes a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QueueLimit {
    /// So many bytes.
    Bytes(Bytes),
    /// What the link transmits in this time at its present capacity (in an
    /// outage: at the capacity before it; by a trace: at its mean capacity).
    /// When the capacity falls, what waits stays and newcomers are refused
    /// until there is room.
    Time(Duration),
    /// So many bandwidth-delay products: [`Capacity::reference`] times twice
    /// the one-way delay, both as configured. The bytes stay the same when the
    /// capacity changes.
    Bdp(f64),
}

/// The limit of a queue and what it comes to at present.
pub(crate) struct Limit {
    configured: QueueLimit,
    bytes: Bytes,
}

/// A packet with what the link must know of it.
pub(crate) struct Item<P> {
    pub packet: P,
    pub info: PacketInfo,
    pub enqueued: Instant,
}

/// Packets in the order of their arrival, and their bytes.
pub(crate) struct Fifo<P> {
    items: VecDeque<Item<P>>,
    bytes: Bytes,
}

/// Where the packets go that end before their transmission, and who counts
/// the marks.
pub(crate) struct Exits<P> {
    pub refused: VecDeque<Refused<P>>,
    pub counters: Counters,
}

/// A packet that ended before its transmission.
pub(crate) struct Refused<P> {
    pub item: Item<P>,
    pub at: Instant,
    pub reason: DropReason,
}

impl QueueLimit {
    /// An Ethernet frame of 1500 bytes of payload, its header included: less
    /// would hold no full packet (half of 0.5 Mbit/s and 30 ms is 938 bytes, in
    /// Sander et al.).
    pub const LEAST: Bytes = Bytes(1514);

    /// What is configured, which may be less than [`QueueLimit::LEAST`].
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

    /// The link now transmits at `rate`.
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
    /// How long it has been waiting.
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

    /// How long the first packet has been waiting; zero if there is none.
    pub fn age(&self, now: Instant) -> Duration {
        self.items.front().map_or(Duration::ZERO, |i| i.age(now))
    }

    /// When the first packet came.
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

    /// Marks an ECN-capable packet. One that came with a mark counts too: the
    /// discipline has signalled congestion by it.
    pub fn mark(&mut self, item: &mut Item<P>) {
        item.info.ecn = Ecn::Ce;
        self.counters.marked.add(item.info.size);
    }
}
