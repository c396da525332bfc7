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
        /// Local and remote address.
        tuple: FiveTuple,
        /// ECN field of the IP header.
        ecn: Ecn,
        /// Complete, protected datagram.
        datagram: Vec<u8>,
    },
    /// Pass this message to another plane
    /// ([`Plane::handle_relayed`](crate::Plane::handle_relayed)).
    Relay {
        /// Plane that the message is for.
        to: PlaneId,
        /// The message.
        message: Relayed,
    },
    /// Pass this to the recorder.
    Record(Recorded),
    /// A packet was sent or received ([`Settings::capturing`](crate::Settings::capturing)).
    Captured {
        /// Peer that sent or received it.
        peer: PeerKey,
        /// Packet without protection.
        packet: Box<CapturedPacket>,
    },
    /// Event for signalling.
    Event(Event),
}

/// Connection event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The connection is established: packets can flow.
    Connected {
        /// Publication or playback, as in the command that created it.
        resource: ResourceId,
    },
    /// The connection has ended by itself.
    Ended {
        /// Publication or playback, as in the command that created it.
        resource: ResourceId,
        /// Reason, as text for a log.
        reason: String,
    },
    /// The lines of a reception carry other tracks.
    LinesChanged {
        /// Reception, as in the command that created it.
        resource: ResourceId,
        /// All lines that carry something.
        lines: Vec<Line>,
    },
    /// A reception has too few lines: its participant must answer this offer of more
    /// ([`Plane::accept`](crate::Plane::accept)). A later offer replaces it.
    Offered {
        /// Reception, as in the command that created it.
        resource: ResourceId,
        /// Session description.
        sdp: String,
    },
    /// A publisher should send these encodings from now on and pause the others, which
    /// have no viewers. At first it sends all.
    WantedChanged {
        /// Publication, as in the command that created it.
        resource: ResourceId,
        /// Whether each encoding of each camera is wanted, in the order of its offer.
        cameras: Vec<Vec<bool>>,
    },
}
