use weft_units::{Bytes, Duration, Instant};

/// The connections of a TCP flow together.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpRecord {
    /// Bytes that the receivers handed to their applications, in order: the
    /// goodput is this over time.
    pub delivered: Bytes,
    /// Segments that were sent again.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Times that loss or a mark reduced the window.
    pub reductions: u64,
    /// Transfers that ended, in the order in which they did.
    pub transfers: Vec<Transfer>,
    /// One for each period of the run, from its beginning.
    pub series: Vec<TcpSample>,
}

/// A transfer of a known size that ended: everything was acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// When its connection was opened.
    pub started_at: Instant,
    /// When its sender knew of its end.
    pub ended_at: Instant,
    /// Bytes of payload that were to be transferred.
    pub size: Bytes,
}

/// The connections of a TCP flow in one period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpSample {
    /// The end of the period.
    pub at: Instant,
    /// Bytes that the receivers handed to their applications within it.
    pub delivered: Bytes,
    /// Segments that were sent again within it.
    pub retransmissions: u32,
    /// Congestion windows at its end, in segments, of all connections.
    pub window: u64,
    /// Largest smoothed round-trip time at its end.
    pub smoothed_rtt: Duration,
}
