//! What travels.

pub(crate) mod tcp;

use weft_links::Ecn;
use weft_units::{Duration, Instant};

use tcp::{Acknowledgement, Segment};

/// A packet on its way: copied from queue to queue, so it stays small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// The way that it goes.
    pub leg: LegId,
    /// How many links of the leg are behind it.
    pub hop: u8,
    pub ecn: Ecn,
    /// On the link, all headers included.
    pub size: u16,
    /// Which connection of the flow.
    pub connection: u32,
    pub sent_at: Instant,
    /// How long it waited in queues so far.
    pub queued: Duration,
    pub body: Body,
}

/// One direction of one route of one flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LegId(pub u32);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// A packet without meaning.
    Filler,
    /// Opens a connection, whose segments begin with this one.
    Syn {
        first: u32,
    },
    /// Answers it.
    SynAck {
        first: u32,
    },
    Segment(Segment),
    Acknowledgement(Acknowledgement),
    /// A datagram of a call or an application, by its place in the flow's store.
    Datagram(u32),
}
