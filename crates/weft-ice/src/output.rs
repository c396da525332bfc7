use crate::counters::Counters;
use crate::types::{DownReason, LinkId};
use std::collections::VecDeque;
use std::net::SocketAddr;
use weft_units::{Duration, PathId};

/// What the agent, or who stands above it with events of its own, wants done
/// or known.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output<E = Event> {
    /// A datagram to send.
    Transmit {
        /// From this address's socket.
        local: SocketAddr,
        /// To this address.
        remote: SocketAddr,
        /// The payload of UDP.
        datagram: Vec<u8>,
    },
    /// News of a path.
    Event(E),
}

/// What happened to a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A path became valid, for the first time or again, or answers again
    /// after [`Event::PathSilent`].
    PathUp {
        /// Unique within the agent.
        path: PathId,
        /// The link of our address.
        link: LinkId,
        /// That of our socket.
        local: SocketAddr,
        /// The peer's address.
        remote: SocketAddr,
        /// Smoothed round-trip time.
        rtt: Duration,
    },
    /// A path that was up is not any more.
    PathDown {
        /// Unique within the agent.
        path: PathId,
        /// How that was found.
        reason: DownReason,
    },
    /// For a second no path at all has answered. This one stays, as there is
    /// nothing better, but what is sent on it is lost; it is checked ten times
    /// a second.
    PathSilent {
        /// Unique within the agent.
        path: PathId,
    },
    /// The selected pair changed, by us or by the peer.
    Selected {
        /// The new one.
        path: PathId,
    },
}

/// What is on its way out, in order, and what was counted meanwhile.
pub struct Outbox<E = Event, C = Counters> {
    queue: VecDeque<Output<E>>,
    /// What was counted.
    pub counters: C,
}

impl<E, C: Default> Default for Outbox<E, C> {
    fn default() -> Outbox<E, C> {
        Outbox {
            queue: VecDeque::new(),
            counters: C::default(),
        }
    }
}

impl<E, C> Outbox<E, C> {
    /// A datagram goes from a local address to a remote one.
    pub fn transmit(&mut self, (local, remote): (SocketAddr, SocketAddr), datagram: Vec<u8>) {
        self.queue.push_back(Output::Transmit {
            local,
            remote,
            datagram,
        });
    }

    /// Something happened.
    pub fn event(&mut self, event: E) {
        self.queue.push_back(Output::Event(event));
    }

    /// The next one.
    pub fn pop(&mut self) -> Option<Output<E>> {
        self.queue.pop_front()
    }
}
