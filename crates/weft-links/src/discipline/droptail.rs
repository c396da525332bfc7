use crate::DropReason;
use crate::queue::{Exits, Fifo, Item};
use weft_units::Bytes;

/// First in, first out; drops packets that find no room.
pub(crate) struct DropTail<P> {
    pub fifo: Fifo<P>,
}

impl<P> DropTail<P> {
    pub fn new() -> DropTail<P> {
        DropTail { fifo: Fifo::new() }
    }

    pub fn push(&mut self, item: Item<P>, limit: Bytes, exits: &mut Exits<P>) {
        if fits(self.fifo.bytes(), item.info.size, limit) {
            self.fifo.push(item);
        } else {
            exits.drop(item.enqueued, item, DropReason::QueueFull);
        }
    }

    pub fn pop(&mut self) -> Option<Item<P>> {
        self.fifo.pop()
    }
}

/// Whether the backlog stays within the limit with `size` more bytes.
pub(super) fn fits(backlog: Bytes, size: Bytes, limit: Bytes) -> bool {
    backlog.0.saturating_add(size.0) <= limit.0
}
