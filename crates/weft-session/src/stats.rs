use weft_units::{Bytes, Duration, PathId, Rate, StreamId};

use crate::path::{EcnState, PathQualityStats, PathState};
use crate::receive::ReceiverStats;
use crate::schedule::{PathUse, Policy};

/// A snapshot of a session's counters. Counters only grow; rates are the
/// reader's to form from two snapshots.
#[derive(Clone, Debug)]
pub struct Stats {
    /// Paths that were up and have not left the association.
    pub paths: Vec<PathStats>,
    /// Every sending stream.
    pub senders: Vec<SenderStats>,
    /// Every receiving stream.
    pub receivers: Vec<(StreamId, ReceiverStats)>,
    /// Target rate of all paths together.
    pub target_rate: Rate,
    /// Packets dropped at the door.
    pub drops: Drops,
}

/// Figures of one path.
///
/// More than fifteen fields: a snapshot to be read, of figures that belong to
/// one path and decide nothing.
#[derive(Clone, Copy, Debug)]
pub struct PathStats {
    /// The association's number for it.
    pub path: PathId,
    /// Whether media may go over it.
    pub state: PathState,
    /// How its link may be used.
    pub policy: Policy,
    /// Smoothed round-trip time.
    pub rtt: Duration,
    /// The controller's target rate.
    pub target_rate: Rate,
    /// Rate that the controller measured to arrive.
    pub acknowledged_rate: Option<Rate>,
    /// The controller's loss fraction, 0 to 1.
    pub loss: f64,
    /// The controller's state in one word.
    pub controller_state: &'static str,
    /// RTP packets sent, copies included.
    pub sent_packets: u64,
    /// RTP bytes sent, copies included; without SRTP, UDP and IP.
    pub sent_bytes: Bytes,
    /// Packets that the peer reported received.
    pub acknowledged_packets: u64,
    /// Packets found lost on this path.
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
    /// Receiver's account of what the path did to frames.
    pub quality: PathQualityStats,
    /// Whether media goes over it, and how often that changed.
    pub usage: PathUse,
}

/// One sending stream.
#[derive(Clone, Copy, Debug)]
pub struct SenderStats {
    /// As it was added to the session.
    pub stream: StreamId,
    /// Frames sent.
    pub frames: u64,
    /// Packets sent, retransmissions and probes included.
    pub packets: u32,
    /// Packets sent for the first time.
    pub media_packets: u64,
    /// Repair packets sent (forward error correction).
    pub repair_packets: u64,
    /// Packets sent again because they were lost.
    pub retransmissions: u64,
    /// Sequence numbers that the peer asked for.
    pub nacked: u64,
    /// Requests of those that were not answered: the packets had arrived or were
    /// under way.
    pub nacks_ignored: u64,
    /// Keyframe requests received.
    pub keyframes_requested: u64,
}

/// Packets from the network that were dropped, by reason.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Drops {
    /// Not RTP or RTCP, truncated, or of absurd size.
    pub malformed: u64,
    /// Packets of a stream that was not negotiated.
    pub unknown_stream: u64,
    /// Feedback for packets that were never sent or are long forgotten.
    pub stale_feedback: u64,
    /// Quality feedback and frame rates that cannot be true.
    pub implausible: u64,
    /// RTCP beyond what is handled of one peer in a time, or lists of more than
    /// was ever sent.
    pub over_budget: u64,
}
