//! Packets of a stream as received and sent by a forwarder: all receivers share one
//! payload in memory.

mod shared;

use weft_units::AudioLevel;

pub use shared::{ForwardedPayload, SharedBytes};

use crate::payload::Content;

/// Received packet of a stream, for a forwarder.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MediaPacket {
    /// Extended sequence number in the stream.
    pub sequence: u64,
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit.
    pub marker: bool,
    /// Audio level, if it is sound and the sender reports the level.
    pub audio_level: Option<AudioLevel>,
    /// Dependency descriptor; empty if the packet has none.
    pub dependency: SharedBytes,
    /// Payload without padding; empty for a padding-only packet, whose sequence number a
    /// forwarder needs.
    pub payload: SharedBytes,
}

/// Packet that a forwarder sends, with the numbers that it assigned.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForwardedPacket {
    /// Outgoing extended sequence number, unique and contiguous except for
    /// packets that were lost before the forwarder.
    pub sequence: u64,
    /// Outgoing RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit; for video, the last packet of its frame.
    pub marker: bool,
    /// Audio level, if it is sound and the sender reports the level.
    pub audio_level: Option<AudioLevel>,
    /// Dependency descriptor; empty if the packet has none.
    pub dependency: Box<[u8]>,
    /// Payload with its descriptor; empty for a packet that only fills a
    /// sequence number.
    pub payload: ForwardedPayload,
    /// Whether it belongs to a keyframe.
    pub keyframe: bool,
    /// Kind of its payload: media, or only parameter sets.
    pub content: Content,
}
