use weft_units::{Bytes, Instant};

/// Packet of a model. It has a size and the counters by which a receiver detects losses,
/// but no content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Sequence number; the first packet has 1.
    pub number: u64,
    /// Size on the link, all headers included.
    pub size: Bytes,
    /// Total size of this packet and all earlier ones.
    pub sent: Bytes,
}

/// Receiver report about a stream of packets. Counters start at the beginning of the
/// stream, so a lost report leaves no gap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// Time of the report, by the receiver's clock.
    pub at: Instant,
    /// The highest number received; 0 for none.
    pub highest: u64,
    /// Total size of all packets up to `highest`, from the sender's counter.
    pub sent: Bytes,
    /// Number of packets received.
    pub packets: u64,
    /// Bytes of these packets.
    pub received: Bytes,
    /// Smallest difference of arrival and sending time in nanoseconds, of the packets
    /// since the last report; it includes the clocks' offset. `None`: no packet arrived.
    pub transit: Option<i64>,
}
