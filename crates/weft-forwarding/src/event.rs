use crate::connection::ResourceId;
use crate::reception::Line;
use crate::relay::{PlaneId, Relayed};
use crate::taps::Recorded;
use weft_peer::{CapturedPacket, PeerKey};
use weft_units::{Ecn, FiveTuple};

/// Request of a plane to its owner.
#[derive(Debug)]
pub enum Output {
    /// Send this datagram.
    Transmit {
        /// Peer that owns the datagram; return the buffer with
        /// [`Plane::recycle`](crate::Plane::recycle).
        peer: PeerKey,
        /// From this local address to this remote one.
        tuple: FiveTuple,
        /// The ECN field of its IP header.
        ecn: Ecn,
        /// Protected and complete.
        datagram: Vec<u8>,
    },
    /// Give this message to another plane ([`Plane::handle_relayed`](crate::Plane::handle_relayed)).
    Relay {
        /// Plane that the message is for.
        to: PlaneId,
        /// The message.
        message: Relayed,
    },
    /// Give this to the recorder.
    Record(Recorded),
    /// A packet was sent or received ([`Settings::capturing`](crate::Settings::capturing)).
    Captured {
        /// Peer that sent or received it.
        peer: PeerKey,
        /// The packet without protection.
        packet: Box<CapturedPacket>,
    },
    /// Something that signalling may want to know.
    Event(Event),
}

/// Connection event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// It is up: packets can flow.
    Connected {
        /// The publication or playback, as in the command that made it.
        resource: ResourceId,
    },
    /// It has ended by itself.
    Ended {
        /// The publication or playback, as in the command that made it.
        resource: ResourceId,
        /// Why, in words for a log.
        reason: String,
    },
    /// The lines of a reception carry other tracks.
    LinesChanged {
        /// The reception, as in the command that made it.
        resource: ResourceId,
        /// All lines that carry something.
        lines: Vec<Line>,
    },
    /// A reception has too few lines: its participant answers this offer of more
    /// ([`Plane::accept`](crate::Plane::accept)). A later one replaces it.
    Offered {
        /// The reception, as in the command that made it.
        resource: ResourceId,
        /// The session description.
        sdp: String,
    },
    /// A publisher should send these encodings from now on, and pause the others: nobody
    /// watches them. At first it sends all.
    WantedChanged {
        /// The publication, as in the command that made it.
        resource: ResourceId,
        /// Whether each encoding of each camera is wanted, in the order of its offer.
        cameras: Vec<Vec<bool>>,
    },
}
