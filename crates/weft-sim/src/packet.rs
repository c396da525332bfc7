//! Packets of the simulator.

pub(crate) mod tcp;

use weft_links::Ecn;
use weft_units::{Duration, Instant};

use tcp::{Acknowledgement, Segment};

/// Packet in flight: it is copied from queue to queue, so it stays small.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Leg that it travels on.
    pub leg: LegId,
    /// Number of the leg's links that it has crossed.
    pub hop: u8,
    pub ecn: Ecn,
    /// Size on the link, including all headers.
    pub size: u16,
    /// Number of the flow's connection.
    pub connection: u32,
    pub sent_at: Instant,
    /// Time spent in queues so far.
    pub queued: Duration,
    pub body: Body,
}

/// Direction of one route of one flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct LegId(pub u32);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Body {
    /// Packet without contents.
    Filler,
    /// Opens a connection whose segments start with this number.
    Syn {
        first: u32,
    },
    /// Answer to a SYN.
    SynAck {
        first: u32,
    },
    Segment(Segment),
    Acknowledgement(Acknowledgement),
    /// Datagram of a call or an application, by its position in the flow's store.
    Datagram(u32),
}
