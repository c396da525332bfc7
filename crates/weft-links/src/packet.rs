use crate::DropReason;
use weft_units::{Bytes, Duration, Instant};

pub use weft_units::Ecn;

/// What a link must know of a packet. A size alone will do: flow zero, not
/// ECN-capable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketInfo {
    /// Bytes on the link, headers included.
    pub size: Bytes,
    /// The flow that it belongs to, for disciplines that keep flows apart.
    pub flow: FlowId,
    /// Its ECN field.
    pub ecn: Ecn,
    /// How urgent it is, for media that keep classes apart.
    pub class: TrafficClass,
}

/// How urgent a packet is: the access categories of IEEE 802.11-2016, table
/// 10-1. Media without categories take all alike.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum TrafficClass {
    /// `background`: AC_BK.
    Background,
    /// `best-effort`: AC_BE.
    #[default]
    BestEffort,
    /// `video`: AC_VI.
    Video,
    /// `voice`: AC_VO.
    Voice,
}

/// A flow on a link, as a router tells flows apart by addresses, ports and
/// protocol. Any number that the caller keeps for one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u64);

/// The end of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Departure<P> {
    /// It reached the other end.
    Delivered {
        /// What was enqueued.
        packet: P,
        /// When its last bit arrived.
        at: Instant,
        /// How long it waited before its transmission began.
        queued_for: Duration,
        /// Its ECN field on arrival: [`Ecn::Ce`] when it was marked.
        ecn: Ecn,
    },
    /// It did not.
    Dropped {
        /// What was enqueued.
        packet: P,
        /// When it was dropped; for a random loss, when it would have
        /// arrived.
        at: Instant,
        /// What the link had against it.
        reason: DropReason,
    },
}

impl PacketInfo {
    /// A packet of flow zero that is not ECN-capable.
    #[must_use]
    pub const fn new(size: Bytes) -> PacketInfo {
        PacketInfo {
            size,
            flow: FlowId(0),
            ecn: Ecn::NotEct,
            class: TrafficClass::BestEffort,
        }
    }

    /// The same packet of another flow.
    #[must_use]
    pub const fn with_flow(self, flow: FlowId) -> PacketInfo {
        PacketInfo { flow, ..self }
    }

    /// The same packet of another class.
    #[must_use]
    pub const fn with_class(self, class: TrafficClass) -> PacketInfo {
        PacketInfo { class, ..self }
    }

    /// The same packet with another ECN field.
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> PacketInfo {
        PacketInfo { ecn, ..self }
    }
}

impl TrafficClass {
    /// All, the least urgent one first.
    pub const ALL: [TrafficClass; 4] = [
        TrafficClass::Background,
        TrafficClass::BestEffort,
        TrafficClass::Video,
        TrafficClass::Voice,
    ];

    /// As in scenario files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            TrafficClass::Background => "background",
            TrafficClass::BestEffort => "best-effort",
            TrafficClass::Video => "video",
            TrafficClass::Voice => "voice",
        }
    }
}

impl From<Bytes> for PacketInfo {
    fn from(size: Bytes) -> PacketInfo {
        PacketInfo::new(size)
    }
}
