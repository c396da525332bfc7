use weft_units::Duration;

/// Time limits and buffer bounds of the receive side of a stream, for experiments with
/// the receivers of other applications. The default is weft's own receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceiverProfile {
    /// Time without a decodable frame after which a keyframe is requested, and time
    /// between two such requests. Giving up packets then causes no request by itself,
    /// unless too many are missing. Default: 200 ms or three round trips, and at once
    /// when packets are given up.
    pub keyframe_patience: Option<Duration>,
    /// Rule for when a missing packet is requested. Default: after a fixed tolerance.
    pub reordering: Reordering,
    /// Most sequence numbers from the oldest packet of an incomplete frame to the newest,
    /// at most 2048. Above it, all incomplete frames are dropped and a keyframe is
    /// requested. Default: 2048, and only the oldest frame is dropped.
    pub packet_buffer: Option<u16>,
    /// Most complete frames that may wait. A keyframe that arrives at a full buffer
    /// replaces its content; any other frame is dropped. Default: 128, and the oldest
    /// frame is dropped.
    pub frame_buffer: Option<u16>,
}

/// Rule for when a missing packet is requested if paths have no numbers of their own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Reordering {
    /// After three packets or 10 ms, but not while a repair packet may recover it.
    #[default]
    Fixed,
    /// After as many packets as have overtaken others recently (median), at the next
    /// multiple of 20 ms at the latest. It does not wait for repair packets.
    Measured,
}

impl ReceiverProfile {
    /// Profile of libwebrtc's receiver of 2022 (revision M100):
    /// `VideoReceiveStream::kMaxWaitForFrameMs` in `video/video_receive_stream2.h`,
    /// `kPacketBufferMaxSize` in `video/rtp_video_stream_receiver2.cc`,
    /// `kMaxFramesBuffered` in `modules/video_coding/frame_buffer2.cc`, and
    /// `modules/video_coding/nack_requester.cc`. Its packet buffer starts with 512 and
    /// doubles before it drops anything.
    pub const LIBWEBRTC_2022: ReceiverProfile = ReceiverProfile {
        keyframe_patience: Some(Duration::from_secs(3)),
        reordering: Reordering::Measured,
        packet_buffer: Some(2048),
        frame_buffer: Some(800),
    };
}
