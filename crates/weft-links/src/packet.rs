use crate::DropReason;
use weft_units::{Bytes, Duration, Instant};

pub use weft_units::Ecn;

/// Properties of a packet that a link needs. A plain size converts to a packet
/// of flow zero that is not ECN-capable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketInfo {
    /// Bytes on the link, including headers.
    pub size: Bytes,
    /// Flow of the packet, for disciplines that separate flows.
    pub flow: FlowId,
    /// ECN field.
    pub ecn: Ecn,
    /// Urgency, for media that separate classes.
    pub class: TrafficClass,
}

weft_units::named! {
    /// Urgency of a packet: the access categories of IEEE 802.11-2016, table 10-1.
    /// Media without categories treat all classes alike.
    #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
    pub enum TrafficClass: "traffic class" {
        /// `background`: AC_BK.
        Background = "background",
        /// `best-effort`: AC_BE.
        #[default]
        BestEffort = "best-effort",
        /// `video`: AC_VI.
        Video = "video",
        /// `voice`: AC_VO.
        Voice = "voice",
    }
}

/// Flow on a link; routers identify flows by addresses, ports and protocol. The caller
/// chooses the number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FlowId(pub u64);

/// End of a packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Departure<P> {
    /// The packet reached the other end.
    Delivered {
        /// Packet as it was enqueued.
        packet: P,
        /// Arrival time of its last bit.
        at: Instant,
        /// Waiting time before its transmission began.
        queued_for: Duration,
        /// ECN field on arrival: [`Ecn::Ce`] if it was marked.
        ecn: Ecn,
    },
    /// The packet was dropped.
    Dropped {
        /// Packet as it was enqueued.
        packet: P,
        /// Time of the drop; for a random loss, the time at which it would have
        /// arrived.
        at: Instant,
        /// Reason for the drop.
        reason: DropReason,
    },
}

impl PacketInfo {
    /// Creates a packet of flow zero that is not ECN-capable.
    #[must_use]
    pub const fn new(size: Bytes) -> PacketInfo {
        PacketInfo {
            size,
            flow: FlowId(0),
            ecn: Ecn::NotEct,
            class: TrafficClass::BestEffort,
        }
    }

    /// Returns a copy with another flow.
    #[must_use]
    pub const fn with_flow(self, flow: FlowId) -> PacketInfo {
        PacketInfo { flow, ..self }
    }

    /// Returns a copy with another class.
    #[must_use]
    pub const fn with_class(self, class: TrafficClass) -> PacketInfo {
        PacketInfo { class, ..self }
    }

    /// Returns a copy with another ECN field.
    #[must_use]
    pub const fn with_ecn(self, ecn: Ecn) -> PacketInfo {
        PacketInfo { ecn, ..self }
    }
}

impl From<Bytes> for PacketInfo {
    fn from(size: Bytes) -> PacketInfo {
        PacketInfo::new(size)
    }
}
