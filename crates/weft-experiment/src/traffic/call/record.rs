use weft_cc::Internal;
use weft_session::{EcnState, PathState, ReceiverStats};
use weft_units::{Bytes, Duration, Freezes, Instant, PathId, Rate};

/// What only a call has.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CallRecord {
    /// The end at the sources of the routes.
    pub caller: SideRecord,
    /// The end at their sinks.
    pub callee: SideRecord,
}

/// One end of a call.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct SideRecord {
    /// What it sends: cameras first, then microphones, in the setup's order.
    pub streams: Vec<StreamRecord>,
    /// One for each period of the run from the call's beginning on; none at an end
    /// that sends nothing.
    pub series: Vec<CallSample>,
    /// What this end found out about its paths, in order of time.
    pub path_changes: Vec<PathChange>,
}

/// A stream from one end to the other.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamRecord {
    /// Every frame that was encoded, in order; of a microphone every packet.
    pub frames: Vec<FrameRecord>,
    /// Freezes at the other end.
    pub freezes: Freezes,
    /// When the other end asked for a keyframe, as this end heard of it.
    pub keyframe_requests: Vec<Instant>,
    /// Media packets, without retransmissions and copies.
    pub packets: u64,
    /// Packets sent for the first time.
    pub media_packets: u64,
    /// Repair packets sent.
    pub repair_packets: u64,
    /// Packets sent again.
    pub retransmissions: u64,
    /// What the receiving session counted.
    pub receiver: ReceiverStats,
}

/// One frame's life. Pictures that the encoder dropped have none.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FrameRecord {
    /// When the picture was taken, and given to the session.
    pub captured_at: Instant,
    /// Encoded.
    pub size: Bytes,
    /// Decodable without any other.
    pub keyframe: bool,
    /// What it looks like, where the encoder's model knows.
    pub quality: Option<Quality>,
    /// Its end at the other end; `None`: never shown.
    pub shown: Option<FrameShown>,
}

/// What a picture looks like that was decoded without loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quality {
    /// Quantizer index: 0 to 127 for VP8, 0 to 51 for H.264.
    pub quantizer: u8,
    /// Luma's peak signal to noise ratio in dB.
    pub psnr_db: f32,
    /// Luma's structural similarity.
    pub ssim: f32,
    /// BRISQUE, 0 best and 100 worst.
    pub brisque: f32,
    /// Width in pixels.
    pub width: u16,
    /// Height in pixels.
    pub height: u16,
}

/// A frame on display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameShown {
    /// When it was shown: decoded, and its play-out time had come.
    pub at: Instant,
    /// When its last packet came; since then it waited to be shown.
    pub complete_at: Instant,
    /// How far it, or one that it refers to, was behind its play-out time:
    /// zero for a frame in time.
    pub lateness: Duration,
    /// From its first packet to its last (frame construction delay).
    pub construction: Duration,
    /// How long it waited for its slowest path, zero with one path.
    pub skew: Duration,
}

/// One end of a call at the end of a period.
#[derive(Clone, PartialEq, Debug)]
pub struct CallSample {
    /// The end of the period.
    pub at: Instant,
    /// What all its encoders together may send.
    pub target_rate: Rate,
    /// Bytes that its encoders made within the period.
    pub encoded: Bytes,
    /// Its paths, in the order of the routes.
    pub paths: Vec<PathSample>,
}

/// A path as one end sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct PathSample {
    /// Whether it carries packets.
    pub state: PathState,
    /// The controller's target.
    pub target_rate: Rate,
    /// Smoothed round trip, queues included.
    pub rtt: Duration,
    /// The controller's loss fraction, 0 to 1.
    pub loss: f64,
    /// What waits for the pacer.
    pub queued: Bytes,
    /// Packets so far that arrived with a mark (ECN-CE).
    pub marked_packets: u64,
    /// What is done with the ECN field.
    pub ecn: EcnState,
    /// The controller's state in one word.
    pub controller_state: &'static str,
    /// What else the controller can tell.
    pub internals: Vec<Internal>,
}

/// A path changed its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathChange {
    /// When the session said so.
    pub at: Instant,
    /// Which: the number of its route.
    pub path: PathId,
    /// What it is now.
    pub state: PathState,
}
