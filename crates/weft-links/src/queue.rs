use crate::{Capacity, PacketInfo};
use std::collections::VecDeque;
use weft_units::{Bytes, Duration, Instant, Rate};

/// How much may wait for transmission. The packet being transmitted does not
/// count; an idle link always takes a packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum QueueLimit {
    /// So many bytes.
    Bytes(Bytes),
    /// What the link transmits in this time at its present capacity (in an
    /// outage: at the capacity before it). When the capacity falls, what
    /// waits stays and newcomers are refused until there is room.
    Time(Duration),
    /// So many bandwidth-delay products: highest capacity of the schedule
    /// times twice the one-way delay, both as configured. The bytes stay the
    /// same when the capacity changes.
    Bdp(f64),
}

impl QueueLimit {
    fn bytes(self, capacity: &Capacity, delay: Duration) -> Bytes {
        match self {
            QueueLimit::Bytes(bytes) => bytes,
            QueueLimit::Time(time) => capacity.highest() * time,
            QueueLimit::Bdp(factor) => {
                let product = capacity.highest() * (delay * 2);
                Bytes((product.0 as f64 * factor).round() as u64)
            }
        }
    }
}

/// A packet with what the link must know of it.
pub(crate) struct Item<P> {
    pub packet: P,
    pub info: PacketInfo,
    pub enqueued: Instant,
}

/// Drop-tail queue in bytes.
pub(crate) struct Queue<P> {
    limit: QueueLimit,
    limit_bytes: Bytes,
    backlog: Bytes,
    items: VecDeque<Item<P>>,
}

impl<P> Queue<P> {
    pub fn new(limit: QueueLimit, capacity: &Capacity, delay: Duration) -> Queue<P> {
        Queue {
            limit,
            limit_bytes: limit.bytes(capacity, delay),
            backlog: Bytes::ZERO,
            items: VecDeque::new(),
        }
    }

    /// The link now transmits at `rate`.
    pub fn on_rate(&mut self, rate: Rate) {
        if let QueueLimit::Time(time) = self.limit
            && rate > Rate::ZERO
        {
            self.limit_bytes = rate * time;
        }
    }

    /// Changes the limit; what waits stays.
    pub fn set_limit(&mut self, limit: QueueLimit, capacity: &Capacity, delay: Duration) {
        self.limit = limit;
        self.limit_bytes = limit.bytes(capacity, delay);
    }

    pub fn has_room_for(&self, size: Bytes) -> bool {
        self.backlog.0.saturating_add(size.0) <= self.limit_bytes.0
    }

    pub fn push(&mut self, item: Item<P>) {
        self.backlog += item.info.size;
        self.items.push_back(item);
    }

    pub fn pop(&mut self) -> Option<Item<P>> {
        let item = self.items.pop_front()?;
        self.backlog -= item.info.size;
        Some(item)
    }

    pub fn backlog(&self) -> Bytes {
        self.backlog
    }

    pub fn limit_bytes(&self) -> Bytes {
        self.limit_bytes
    }

    pub fn len(&self) -> u64 {
        self.items.len() as u64
    }

    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}
