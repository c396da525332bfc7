use weft_units::{Bytes, Duration, Instant};

/// All connections of a TCP flow together.
#[derive(Clone, PartialEq, Debug)]
pub struct TcpRecord {
    /// Ordered bytes that the receivers passed to their applications; divided by time,
    /// they are the goodput.
    pub delivered: Bytes,
    /// Number of retransmitted segments.
    pub retransmissions: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Window reductions after loss or an ECN mark.
    pub reductions: u64,
    /// Finished transfers, in the order in which they finished.
    pub transfers: Vec<Transfer>,
    /// One for each period of the run, from its beginning.
    pub series: Vec<TcpSample>,
}

/// Transfer of known size that finished, with all data acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Transfer {
    /// Time at which its connection was opened.
    pub started_at: Instant,
    /// Time at which its sender received the last acknowledgement.
    pub ended_at: Instant,
    /// Payload bytes to transfer.
    pub size: Bytes,
}

/// Connections of a TCP flow in one period.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpSample {
    /// End of the period.
    pub at: Instant,
    /// Bytes that the receivers passed to their applications within it.
    pub delivered: Bytes,
    /// Segments retransmitted within it.
    pub retransmissions: u32,
    /// Sum of the congestion windows of all connections at its end, in segments.
    pub window: u64,
    /// Largest smoothed round-trip time at its end.
    pub smoothed_rtt: Duration,
}
