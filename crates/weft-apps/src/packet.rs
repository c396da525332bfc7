use weft_units::{Bytes, Instant};

/// A packet of a model: its size is all that it carries, and what a receiver
/// needs to tell losses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet {
    /// The first one has 1.
    pub number: u64,
    /// On the link, all headers included.
    pub size: Bytes,
    /// Sizes of this packet and all before it.
    pub sent: Bytes,
}

/// What a receiver says of a stream of packets; counts are from its beginning,
/// so that a report that is lost leaves no hole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report {
    /// When it was made, by the receiver's clock.
    pub at: Instant,
    /// The highest number that came; 0 for none.
    pub highest: u64,
    /// Sizes of all packets up to that one, as the sender counted them.
    pub sent: Bytes,
    /// How many came.
    pub packets: u64,
    /// Octets of these.
    pub received: Bytes,
    /// The least of arrival less sending, in nanoseconds, of the packets since
    /// the last report; the clocks' offset is in it. `None`: nothing came.
    pub transit: Option<i64>,
}
