//! Links from a plane to the other planes of the server.

use crate::media_plane::{MediaStream, Request};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use weft_forwarding::{PlaneId, Relayed};
use weft_net::Remote;

/// Maximum number of packets and datagrams that wait at another plane; further ones are lost
/// until half of them are handled. Chosen by us: a tenth of a second of a plane's traffic.
const MOST_WAITING: usize = 16_384;

/// Command for a plane from another thread.
pub(super) enum Order {
    Serve(Request),
    /// TCP connection of a peer.
    Take(MediaStream),
    /// Messages from another plane.
    Relayed(Batch),
    /// Another plane was started.
    Link(PlaneId, Link),
    /// Another plane has ended.
    Unlink(PlaneId),
    Stop,
    #[cfg(debug_assertions)]
    Break,
}

/// Messages of one turn to another plane.
pub(super) struct Batch {
    pub(super) from: PlaneId,
    pub(super) messages: Vec<Relayed>,
    waiting: Arc<AtomicUsize>,
}

impl Batch {
    /// Returns the messages.
    pub(super) fn take(&mut self) -> Vec<Relayed> {
        let messages = std::mem::take(&mut self.messages);
        self.waiting.fetch_sub(messages.len(), Ordering::Relaxed);
        messages
    }
}

/// Link to another plane.
pub(super) struct Link {
    remote: Remote<Order>,
    /// Number of messages that the other plane has not handled.
    waiting: Arc<AtomicUsize>,
    batch: Vec<Relayed>,
    /// Whether messages are being lost.
    overflows: bool,
}

impl Link {
    pub(super) fn new(remote: Remote<Order>) -> Link {
        Link {
            remote,
            waiting: Arc::default(),
            batch: Vec::new(),
            overflows: false,
        }
    }

    fn waiting(&self) -> usize {
        self.waiting.load(Ordering::Relaxed) + self.batch.len()
    }

    /// Adds a message to the batch; returns whether there was room for it.
    fn push(&mut self, message: Relayed) -> bool {
        if message.is_optional() {
            self.overflows |= self.waiting() >= MOST_WAITING;
            if self.overflows {
                return false;
            }
        }
        self.batch.push(message);
        true
    }

    /// Sends the batch.
    fn flush(&mut self, from: PlaneId) {
        if self.overflows && self.waiting() < MOST_WAITING / 2 {
            self.overflows = false;
            self.batch.push(Relayed::interrupted());
        }
        if self.batch.is_empty() {
            return;
        }
        let messages = std::mem::take(&mut self.batch);
        self.waiting.fetch_add(messages.len(), Ordering::Relaxed);
        let waiting = Arc::clone(&self.waiting);
        // A plane that has ended is about to be unlinked.
        self.remote.send(Order::Relayed(Batch {
            from,
            messages,
            waiting,
        }));
    }
}

/// Links to all other planes.
#[derive(Default)]
pub(super) struct Links {
    links: BTreeMap<PlaneId, Link>,
    /// Number of packets and datagrams lost because another plane was too slow.
    lost: u64,
}

impl Links {
    pub(super) fn add(&mut self, plane: PlaneId, link: Link) {
        self.links.insert(plane, link);
    }

    pub(super) fn remove(&mut self, plane: PlaneId) {
        self.links.remove(&plane);
    }

    pub(super) fn push(&mut self, to: PlaneId, message: Relayed) {
        let link = self.links.get_mut(&to);
        let sent = link.is_some_and(|link| link.push(message));
        self.lost += u64::from(!sent);
    }

    pub(super) fn flush(&mut self, from: PlaneId) {
        for link in self.links.values_mut() {
            link.flush(from);
        }
    }

    /// Number of packets and datagrams lost because another plane was too slow.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}
