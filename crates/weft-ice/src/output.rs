use crate::counters::Counters;
use crate::types::{DownReason, LinkId};
use std::collections::VecDeque;
use weft_units::{Duration, FiveTuple, PathId};

/// Output of the agent, or of a layer above it with its own events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output<E = Event> {
    /// A datagram to send.
    Transmit {
        /// Source, which selects the socket, and destination.
        tuple: FiveTuple,
        /// UDP payload, or a datagram of the TCP connection without its length.
        datagram: Vec<u8>,
    },
    /// Event of a path.
    Event(E),
}

/// Event of a path.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A path became valid, for the first time or again, or answers again
    /// after [`Event::PathSilent`].
    PathUp {
        /// Number of the path, unique within the agent.
        path: PathId,
        /// Link of our address.
        link: LinkId,
        /// Transport protocol and addresses.
        tuple: FiveTuple,
        /// Smoothed round-trip time.
        rtt: Duration,
    },
    /// A path is no longer up.
    PathDown {
        /// Number of the path, unique within the agent.
        path: PathId,
        /// Reason.
        reason: DownReason,
    },
    /// The number of a path has ended, after [`Event::PathDown`] if the path was
    /// up: its pair was removed, or has not answered for as long as consent lasts
    /// (RFC 7675 section 5.1). A later path between the same addresses gets another
    /// number.
    PathRemoved {
        /// Unique within the agent until now.
        path: PathId,
    },
    /// No path at all has answered for a second. This one stays up, because no
    /// better one exists, but packets sent on it are lost; it is checked ten
    /// times a second.
    PathSilent {
        /// Number of the path, unique within the agent.
        path: PathId,
    },
    /// The selected pair changed, by us or by the peer.
    Selected {
        /// New selected path.
        path: PathId,
    },
}

/// Queue of outputs in order, with the counters.
pub struct Outbox<E = Event, C = Counters> {
    queue: VecDeque<Output<E>>,
    /// Counters.
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
    /// Adds a datagram.
    pub fn transmit(&mut self, tuple: FiveTuple, datagram: Vec<u8>) {
        self.queue.push_back(Output::Transmit { tuple, datagram });
    }

    /// Adds an event.
    pub fn event(&mut self, event: E) {
        self.queue.push_back(Output::Event(event));
    }

    /// Returns the next output.
    pub fn pop(&mut self) -> Option<Output<E>> {
        self.queue.pop_front()
    }
}
