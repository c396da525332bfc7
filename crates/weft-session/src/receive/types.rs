use super::profile::ReceiverProfile;
use weft_units::{AudioLevel, Codec, Duration, Instant, PathId};
use weft_wire::media::MediaPacket;

/// Form in which a stream is passed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// Packets, each once, immediately and in the order of arrival, for a server that
    /// forwards them.
    Packets,
    /// Complete, decodable frames, in order, at their play-out time.
    Frames,
}

/// Settings of the receive side of a stream.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveConfig {
    /// Codec and packet format.
    pub codec: Codec,
    /// Packets or frames.
    pub delivery: Delivery,
    /// Time limits and buffer bounds.
    pub profile: ReceiverProfile,
}

/// RTP packet of the stream, decrypted and with extended numbers.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedPacket<'a> {
    /// Path whose numbering `stream_sequence` belongs to; without a number, the path on
    /// which it arrived.
    pub path: PathId,
    /// Extended sequence number in the stream.
    pub sequence: u64,
    /// Number among the packets of this stream on `path`. `None` if the peer does not
    /// number its paths, and for a copy that arrived on another path than the one it was
    /// numbered for; ignored for a recovered packet.
    pub stream_sequence: Option<u16>,
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit: for video, the last packet of a frame.
    pub marker: bool,
    /// Audio level, if the sender states it.
    pub audio_level: Option<AudioLevel>,
    /// Dependency descriptor; empty if the packet has none.
    pub dependency: &'a [u8],
    /// Payload without padding; an empty payload carries no media and only takes a
    /// sequence number.
    pub payload: &'a [u8],
    /// Whether it arrived as a retransmission (RFC 4588) and not as the original.
    pub recovered: bool,
}

impl ReceivedPacket<'_> {
    /// Returns whether it is neither a repair nor a copy of another path's packet.
    pub(crate) fn is_original(&self) -> bool {
        !self.recovered && self.stream_sequence.is_some()
    }
}

/// Complete frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReceivedFrame {
    /// Coded frame without payload descriptors; H.264 as a byte stream (ITU-T H.264 Annex
    /// B).
    pub data: Vec<u8>,
    /// Codec of `data`.
    pub codec: Codec,
    /// RTP timestamp.
    pub timestamp: u32,
    /// Whether it can be decoded without any other frame; always true for audio.
    pub keyframe: bool,
    /// Temporal layer, if the payload names one.
    pub temporal_layer: Option<u8>,
    /// Whether it depends on the base layer only (the Y bit of RFC 7741).
    pub layer_sync: bool,
    /// Picture number of the payload descriptor, if it has one.
    pub picture_id: Option<u16>,
    /// Extended sequence number of its first packet.
    pub first_sequence: u64,
    /// Number of packets.
    pub packets: u32,
    /// Number of packets that came as retransmissions.
    pub recovered_packets: u32,
    /// Arrival of its first packet.
    pub first_arrival: Instant,
    /// Arrival of its last packet.
    pub complete_at: Instant,
    /// Play-out time that the jitter buffer assigned.
    pub release_at: Instant,
    /// Time from `release_at` to `complete_at`, or to the repair of a frame that it
    /// refers to; zero if the frame is in time.
    pub lateness: Duration,
    /// Packets by path, without retransmissions.
    pub paths: Vec<PathShare>,
}

impl ReceivedFrame {
    /// Returns the frame construction delay: from the first packet to the last.
    #[must_use]
    pub fn construction_delay(&self) -> Duration {
        self.complete_at.saturating_since(self.first_arrival)
    }

    /// Returns the time between the earliest and the latest of the paths' last packets:
    /// how long the frame waited for its slowest path. `None` if only one path delivered
    /// it.
    #[must_use]
    pub fn path_skew(&self) -> Option<Duration> {
        let last = self.paths.iter().map(|p| p.last_arrival);
        let (earliest, latest) = (last.clone().min()?, last.max()?);
        (self.paths.len() > 1).then(|| latest.saturating_since(earliest))
    }
}

/// One path's share of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathShare {
    /// The association's number for the path.
    pub path: PathId,
    /// Number of the frame's packets that it delivered.
    pub packets: u32,
    /// Number of packets that it delivered after every other path's last packet: the
    /// frame had to wait for these.
    pub late_packets: u32,
    /// Arrival of its first packet.
    pub first_arrival: Instant,
    /// Arrival of its last packet.
    pub last_arrival: Instant,
}

/// Output of the receive side of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ReceiveEvent {
    /// Request these sequence numbers from the sender (RFC 4585 generic NACK).
    Nack {
        /// Ascending and unique.
        sequences: Vec<u16>,
    },
    /// Request a keyframe from the sender (RFC 4585 picture loss indication).
    KeyframeNeeded,
    /// A frame came too late: report this path's effect to the sender.
    PathQuality(PathQuality),
    /// A packet ([`Delivery::Packets`]).
    Packet(MediaPacket),
    /// A frame whose play-out time has come ([`Delivery::Frames`]).
    Frame(ReceivedFrame),
}

/// Effect of a path on a late frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PathQuality {
    /// Path number, as the sender counts.
    pub path: PathId,
    /// Packets that it delivered before the fast path's last one, or, if negative, after
    /// it (equation 2).
    pub alpha: i16,
    /// Time from the frame's first packet to its last.
    pub construction: Duration,
}
