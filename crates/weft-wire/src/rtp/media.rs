use std::sync::Arc;

use weft_units::AudioLevel;

/// A packet of a stream as it came, for a forwarder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MediaPacket {
    /// Extended sequence number in the stream.
    pub sequence: u64,
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit.
    pub marker: bool,
    /// How loud it is, of sound whose sender tells.
    pub audio_level: Option<AudioLevel>,
    /// Payload without padding; empty for a packet of padding only, which a
    /// forwarder needs for its sequence number.
    pub payload: Arc<[u8]>,
}

/// A packet that a forwarder sends on, with the numbers that it chose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardedPacket {
    /// Outgoing extended sequence number, each once: contiguous for a receiver
    /// but for what was lost before it came here.
    pub sequence: u64,
    /// Outgoing RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit: of video, the last packet of its frame.
    pub marker: bool,
    /// How loud it is, of sound whose sender tells.
    pub audio_level: Option<AudioLevel>,
    /// Payload with its descriptor; empty for a packet that only fills a
    /// sequence number.
    pub payload: Arc<[u8]>,
    /// Belongs to a keyframe.
    pub keyframe: bool,
}
