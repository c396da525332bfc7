use weft_units::Duration;

/// Patience and bounds of the receive side of a stream, for experiments with the
/// receivers of other applications. The default is ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceiverProfile {
    /// Time without a decodable frame after which a keyframe is requested, and
    /// between two such requests. Packets that are given up then cause no request
    /// by themselves, unless too many are missing. Default: 200 ms or three round
    /// trips, and at once when packets are given up.
    pub keyframe_patience: Option<Duration>,
    /// When a missing packet is requested. Default: after a fixed tolerance.
    pub reordering: Reordering,
    /// Sequence numbers from the oldest packet of an unfinished frame to the
    /// newest, at most 2048. Beyond, all unfinished frames are dropped and a
    /// keyframe is requested. Default: 2048, and only the oldest frame is dropped.
    pub packet_buffer: Option<u16>,
    /// Complete frames that may wait. A keyframe that comes to a full buffer
    /// replaces its content; any other frame is dropped. Default: 128, and the
    /// oldest frame is dropped.
    pub frame_buffer: Option<u16>,
}

/// When a missing packet is requested where paths have no numbers of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reordering {
    /// After three packets or 10 ms, and not while a repair packet may bring it.
    #[default]
    Fixed,
    /// After as many packets as have overtaken others lately (median), at the next
    /// multiple of 20 ms at the latest. Repair packets are not waited for.
    Measured,
}

impl ReceiverProfile {
    /// libwebrtc's receiver of 2022 (revision M100):
    /// `VideoReceiveStream::kMaxWaitForFrameMs` in `video/video_receive_stream2.h`,
    /// `kPacketBufferMaxSize` in `video/rtp_video_stream_receiver2.cc`,
    /// `kMaxFramesBuffered` in `modules/video_coding/frame_buffer2.cc`, and
    /// `modules/video_coding/nack_requester.cc`. Its packet buffer begins with 512
    /// and doubles before it drops anything.
    pub const LIBWEBRTC_2022: ReceiverProfile = ReceiverProfile {
        keyframe_patience: Some(Duration::from_secs(3)),
        reordering: Reordering::Measured,
        packet_buffer: Some(2048),
        frame_buffer: Some(800),
    };
}
