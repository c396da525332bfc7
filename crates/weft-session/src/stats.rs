use weft_units::{Bytes, Duration, PathId, Rate, StreamId};

use crate::path::{EcnState, PathQualityStats, PathState};
use crate::receive::ReceiverStats;
use crate::schedule::{PathUse, Policy};

/// Snapshot of a session's counters. Counters only grow; compute rates from two
/// snapshots.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Paths that have been up and were not removed.
    pub paths: Vec<PathStats>,
    /// Sending streams.
    pub senders: Vec<SenderStats>,
    /// Receiving streams.
    pub receivers: Vec<(StreamId, ReceiverStats)>,
    /// Target rate of all paths together.
    pub target_rate: Rate,
    /// Incoming packets that were dropped.
    pub drops: Drops,
}

/// Statistics of one path.
///
/// More than fifteen fields: a read-only snapshot of values that belong to one path and
/// decide nothing.
#[derive(Clone, Copy, Debug)]
pub struct PathStats {
    /// The association's number for the path.
    pub path: PathId,
    /// Whether the path may carry media.
    pub state: PathState,
    /// Permitted use of its link.
    pub policy: Policy,
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// The controller's target rate.
    pub target_rate: Rate,
    /// Arrival rate that the controller measured.
    pub acknowledged_rate: Option<Rate>,
    /// Loss fraction according to the controller, 0 to 1.
    pub loss: f64,
    /// The controller's state in one word.
    pub controller_state: &'static str,
    /// RTP packets sent, including copies.
    pub sent_packets: u64,
    /// RTP bytes sent, including copies; without SRTP, UDP and IP.
    pub sent_bytes: Bytes,
    /// Packets that the peer reported received.
    pub acknowledged_packets: u64,
    /// Packets detected as lost on this path.
    pub lost_packets: u64,
    /// Packets that the peer reported received with a mark (ECN-CE).
    pub marked_packets: u64,
    /// Use of the ECN field on this path.
    pub ecn: EcnState,
    /// RTP packets received on this path.
    pub received_packets: u64,
    /// RTP bytes received on this path.
    pub received_bytes: Bytes,
    /// Bytes that wait for the pacer.
    pub queued: Bytes,
    /// Receiver's report of the path's effect on frames.
    pub quality: PathQualityStats,
    /// Whether the path carries media, and how often that changed.
    pub usage: PathUse,
}

/// Statistics of one sending stream.
#[derive(Clone, Copy, Debug)]
pub struct SenderStats {
    /// Id under which it was added to the session.
    pub stream: StreamId,
    /// Frames sent.
    pub frames: u64,
    /// Packets sent, including retransmissions and probes.
    pub packets: u32,
    /// Packets sent for the first time.
    pub media_packets: u64,
    /// Repair packets sent (forward error correction).
    pub repair_packets: u64,
    /// Packets sent again because they were lost.
    pub retransmissions: u64,
    /// Sequence numbers that the peer requested.
    pub nacked: u64,
    /// Requested sequence numbers that were not sent again, because the packets had
    /// arrived or were in flight.
    pub nacks_ignored: u64,
    /// Keyframe requests received.
    pub keyframes_requested: u64,
}

/// Packets from the network that were dropped, by reason.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Drops {
    /// Packets that are not RTP or RTCP, truncated, or of an impossible size.
    pub malformed: u64,
    /// Packets of streams that were not negotiated.
    pub unknown_stream: u64,
    /// Feedback on packets that were never sent or were forgotten long ago.
    pub stale_feedback: u64,
    /// Quality feedback and frame rates with impossible values.
    pub implausible: u64,
    /// RTCP beyond the limit for one peer, or with lists longer than everything sent.
    pub over_budget: u64,
}
