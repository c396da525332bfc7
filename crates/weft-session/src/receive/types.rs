use super::profile::ReceiverProfile;
use weft_units::{AudioLevel, Codec, Duration, Instant, PathId};
use weft_wire::media::MediaPacket;

/// In what form a stream is handed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// Packets, each once and at once, in the order of arrival: for a server
    /// that forwards them.
    Packets,
    /// Complete frames, in order, decodable, at their play-out time.
    Frames,
}

/// Settings of the receive side of a stream.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveConfig {
    /// Codec and packet format.
    pub codec: Codec,
    /// Packets or frames.
    pub delivery: Delivery,
    /// Patience and bounds.
    pub profile: ReceiverProfile,
}

/// One RTP packet of the stream, decrypted and with its numbers extended.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedPacket<'a> {
    /// The path whose numbering `stream_sequence` belongs to; without one, the
    /// path that it came by.
    pub path: PathId,
    /// Extended sequence number in the stream.
    pub sequence: u64,
    /// Its number among the packets of this stream on `path`. `None` where
    /// the peer does not number its paths, and for a copy that came by another
    /// path than the one it was numbered for; ignored for a recovered packet.
    pub stream_sequence: Option<u16>,
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit: for video, the last packet of a frame.
    pub marker: bool,
    /// How loud it is, of sound whose sender tells.
    pub audio_level: Option<AudioLevel>,
    /// Dependency descriptor; empty if the packet has none.
    pub dependency: &'a [u8],
    /// Payload without padding; an empty one carries no media and only takes
    /// a sequence number.
    pub payload: &'a [u8],
    /// It came as a retransmission (RFC 4588), not as the original.
    pub recovered: bool,
}

impl ReceivedPacket<'_> {
    /// Neither a repair nor a copy of another path's packet.
    pub(crate) fn is_original(&self) -> bool {
        !self.recovered && self.stream_sequence.is_some()
    }
}

/// One complete frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceivedFrame {
    /// The coded frame without payload descriptors; H.264 as a byte stream
    /// (ITU-T H.264 Annex B).
    pub data: Vec<u8>,
    /// Codec of `data`.
    pub codec: Codec,
    /// RTP timestamp.
    pub timestamp: u32,
    /// Decodable without any other frame; always true for audio.
    pub keyframe: bool,
    /// Temporal layer, if the payload names one.
    pub temporal_layer: Option<u8>,
    /// Whether it depends on the base layer only (the Y bit of RFC 7741).
    pub layer_sync: bool,
    /// Picture number of the payload descriptor, if it has one.
    pub picture_id: Option<u16>,
    /// Extended sequence number of its first packet.
    pub first_sequence: u64,
    /// Number of packets it was made of.
    pub packets: u32,
    /// How many of them came as retransmissions.
    pub recovered_packets: u32,
    /// Arrival of its first packet.
    pub first_arrival: Instant,
    /// Arrival of its last packet.
    pub complete_at: Instant,
    /// The play-out time that the jitter buffer gave it.
    pub release_at: Instant,
    /// How far `complete_at`, or the repair of a frame that it refers to, was
    /// behind `release_at`; zero for a frame in time.
    pub lateness: Duration,
    /// Packets that each path brought of it, retransmissions left out.
    pub paths: Vec<PathShare>,
}

impl ReceivedFrame {
    /// Frame construction delay: from the first packet to the last.
    #[must_use]
    pub fn construction_delay(&self) -> Duration {
        self.complete_at.saturating_since(self.first_arrival)
    }

    /// Between the paths' last packets, the earliest and the latest: how long
    /// the frame waited for its slowest path. `None` if it came by one path.
    #[must_use]
    pub fn path_skew(&self) -> Option<Duration> {
        let last = self.paths.iter().map(|p| p.last_arrival);
        let (earliest, latest) = (last.clone().min()?, last.max()?);
        (self.paths.len() > 1).then(|| latest.saturating_since(earliest))
    }
}

/// One path's part of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathShare {
    /// The association's number for it.
    pub path: PathId,
    /// Packets of the frame that it brought.
    pub packets: u32,
    /// Packets that it brought after every other path had brought its last:
    /// those that the frame had to wait for.
    pub late_packets: u32,
    /// When the first of them came.
    pub first_arrival: Instant,
    /// When the last one did.
    pub last_arrival: Instant,
}

/// Output of the receive side of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReceiveEvent {
    /// Ask the sender for these sequence numbers (RFC 4585 generic NACK).
    Nack {
        /// Ascending, without repetition.
        sequences: Vec<u16>,
    },
    /// Ask the sender for a keyframe (RFC 4585 picture loss indication).
    KeyframeNeeded,
    /// A frame came too late: tell the sender what this path did to it.
    PathQuality(PathQuality),
    /// A packet ([`Delivery::Packets`]).
    Packet(MediaPacket),
    /// A frame whose play-out time has come ([`Delivery::Frames`]).
    Frame(ReceivedFrame),
}

/// Effect of a path on a frame that came too late.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathQuality {
    /// The path, as the sender counts.
    pub path: PathId,
    /// Packets that it brought before the fast path's last, or, negative,
    /// after (equation 2).
    pub alpha: i16,
    /// From the frame's first packet to its last.
    pub construction: Duration,
}
