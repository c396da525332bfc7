use weft_cc::Internal;
use weft_session::{EcnState, PathState, ReceiverStats};
use weft_units::{Bytes, Duration, Freezes, Instant, PathId, Rate};

use super::frames::FrameLog;

/// Measurements of a call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CallRecord {
    /// End at the sources of the routes.
    pub caller: SideRecord,
    /// End at their sinks.
    pub callee: SideRecord,
}

/// One end of a call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SideRecord {
    /// Streams that it sends: cameras first, then microphones, in the setup's order.
    pub streams: Vec<StreamRecord>,
    /// One for each period of the run, from the start of the call; empty for an end that
    /// sends nothing.
    pub series: Vec<CallSample>,
    /// Path state changes that this end observed, in order of time.
    pub path_changes: Vec<PathChange>,
}

/// Stream from one end to the other.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamRecord {
    /// Every encoded frame, in order; every packet of a microphone.
    pub frames: FrameLog,
    /// Freezes at the other end.
    pub freezes: Freezes,
    /// Times at which keyframe requests from the other end arrived.
    pub keyframe_requests: Vec<Instant>,
    /// Media packets, without retransmissions and copies.
    pub packets: u64,
    /// Packets sent for the first time.
    pub media_packets: u64,
    /// Repair packets sent.
    pub repair_packets: u64,
    /// Retransmitted packets.
    pub retransmissions: u64,
    /// Counters of the receiving session.
    pub receiver: ReceiverStats,
}

/// One end of a call at the end of a period.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSample {
    /// End of the period.
    pub at: Instant,
    /// Target rate of all encoders together.
    pub target_rate: Rate,
    /// Bytes that its encoders produced within the period.
    pub encoded: Bytes,
    /// State of its paths, in the order of the routes.
    pub paths: Vec<PathSample>,
}

/// State of a path at one end.
#[derive(Clone, PartialEq, Debug)]
pub struct PathSample {
    /// Whether it carries packets.
    pub state: PathState,
    /// Target rate of the controller.
    pub target_rate: Rate,
    /// Smoothed round trip, queues included.
    pub rtt: Duration,
    /// Loss fraction from the controller, 0 to 1.
    pub loss: f64,
    /// Bytes waiting for the pacer.
    pub queued: Bytes,
    /// Packets so far that arrived with a mark (ECN-CE).
    pub marked_packets: u64,
    /// ECN state of the path.
    pub ecn: EcnState,
    /// State of the controller in one word.
    pub controller_state: &'static str,
    /// Other internal values of the controller.
    pub internals: Vec<Internal>,
}

/// Change of a path's state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathChange {
    /// Time at which the session reported it.
    pub at: Instant,
    /// Path: the number of its route.
    pub path: PathId,
    /// New state.
    pub state: PathState,
}
