use weft_units::{AudioLevel, Bytes, Ecn, Instant, PathId, Rate, Ssrc, StreamId};
use weft_wire::media::{MediaPacket, SharedBytes};

use crate::config::Retransmission;
use crate::path::PathState;
use crate::receive::ReceivedFrame;

/// Input of a session.
#[derive(Debug)]
pub enum Input<'a> {
    /// Decrypted RTP packet.
    Rtp {
        /// Path on which it arrived.
        path: PathId,
        /// ECN field with which it arrived.
        ecn: Ecn,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// Decrypted RTP packet that arrived before, on this path or another. Its stream
    /// already has it, so it only counts for the path's measurements.
    RtpAgain {
        /// Path on which it arrived.
        path: PathId,
        /// ECN field with which it arrived.
        ecn: Ecn,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// Decrypted compound RTCP packet.
    Rtcp {
        /// Path on which it arrived.
        path: PathId,
        /// Whole compound packet.
        packet: &'a [u8],
    },
    /// The association validated the path, for the first time or again.
    PathUp {
        /// The association's number for the path.
        path: PathId,
        /// Round-trip time of its checks.
        rtt: weft_units::Duration,
    },
    /// No path answers checks any more, so this path is as good as any other. Until
    /// [`Input::PathUp`], almost nothing is sent.
    PathSilent {
        /// The association's number for the path.
        path: PathId,
    },
    /// The association found the path dead; the path may return.
    PathDown {
        /// The association's number for the path.
        path: PathId,
    },
    /// The path has left the association for good. The session forgets it; a later path
    /// with the same number starts as a new one.
    PathRemoved {
        /// The association's number for the path.
        path: PathId,
    },
    /// The time of the last polled deadline has come. A spurious timeout does nothing.
    Timeout,
}

/// Output of a session: an action for the caller, or an event.
#[derive(Debug)]
pub enum Output {
    /// Send this packet.
    Transmit(Transmit),
    /// Send an earlier packet again.
    Repeat(Repeat),
    /// This path is silent: ask the association to check all paths.
    SuspectPath(PathId),
    /// Event for the application.
    Event(Event),
}

/// Packet to protect once and send.
#[derive(Debug)]
pub struct Transmit {
    /// Path on which to send it.
    pub path: PathId,
    /// ECN field with which to send it on `path`. Copies are sent Not-ECT, because no
    /// feedback reports on them.
    pub ecn: Ecn,
    /// Further paths that get the same protected bytes.
    pub copies: Vec<PathId>,
    /// RTP or RTCP packet without `rest`, not yet protected.
    pub packet: Vec<u8>,
    /// End of a forwarded packet's payload, shared with the other receivers; empty for
    /// other packets. Encryption appends it to `packet`.
    pub rest: SharedBytes,
    /// RTP or RTCP.
    pub protocol: Protocol,
    /// Whether a peer may request it again.
    pub retention: Retention,
}

impl Transmit {
    /// Size before protection.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes((self.packet.len() + self.rest.len()) as u64)
    }

    /// Returns the whole unprotected packet in one buffer.
    #[must_use]
    pub fn into_packet(mut self) -> Vec<u8> {
        self.packet.extend_from_slice(&self.rest);
        self.packet
    }
}

/// How long a sent packet is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retention {
    /// It is not kept.
    None,
    /// Its protected bytes go into a `RepeatStore`.
    Repeatable,
}

impl From<Retransmission> for Retention {
    fn from(retransmission: Retransmission) -> Retention {
        match retransmission {
            Retransmission::SamePacket => Retention::Repeatable,
            Retransmission::None | Retransmission::Rtx(..) => Retention::None,
        }
    }
}

/// Bytes to send again as they were protected the first time. Encrypting twice under one
/// number would expose the key stream (RFC 7714 section 8.1).
#[derive(Clone, Debug)]
pub struct Repeat {
    /// SSRC of the stream.
    pub ssrc: Ssrc,
    /// RTP sequence number.
    pub sequence: u16,
    /// Path on which to send it.
    pub path: PathId,
    /// Further paths on which to send it.
    pub copies: Vec<PathId>,
}

/// RTP or RTCP, which are protected differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// Media packet.
    Rtp,
    /// Control packet.
    Rtcp,
}

/// Event for the application.
#[derive(Debug)]
pub enum Event {
    /// The peer needs a keyframe of a stream that this side sends.
    KeyframeRequested {
        /// The sending stream.
        stream: StreamId,
    },
    /// The total rate changed; encoders should follow at once.
    TargetRateChanged {
        /// For all streams together, without retransmissions.
        rate: Rate,
    },
    /// A frame should be decoded now.
    FrameReceived {
        /// The receiving stream.
        stream: StreamId,
        /// Complete frame, in decoding order.
        frame: ReceivedFrame,
    },
    /// A packet arrived (streams with packet delivery).
    PacketReceived {
        /// The receiving stream.
        stream: StreamId,
        /// The packet; each packet is reported once, in the order of arrival.
        packet: MediaPacket,
    },
    /// The state of a path changed.
    PathStateChanged {
        /// The association's number for the path.
        path: PathId,
        /// Its new state.
        state: PathState,
    },
    /// The peer ended this stream (RTCP BYE).
    StreamEnded {
        /// The receiving stream.
        stream: StreamId,
    },
}

/// Encoded frame to send.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Encoded bytes: a VP8 frame, an H.264 frame as a byte stream (ITU-T H.264 Annex B),
    /// or one Opus packet.
    pub data: &'a [u8],
    /// RTP timestamp in the stream's clock.
    pub timestamp: u32,
    /// Whether it can be decoded without any other frame.
    pub keyframe: bool,
    /// VP8 temporal layer, if the stream has layers.
    pub temporal_layer: Option<u8>,
    /// Whether the frame refers to the base layer only (RFC 7741 section 4.2, `Y`).
    pub layer_sync: bool,
    /// Whether no later frame refers to it.
    pub non_reference: bool,
    /// Capture time of the picture or sound.
    pub captured_at: Instant,
    /// Audio level; sent to receivers that negotiated it.
    pub audio_level: Option<AudioLevel>,
}

impl<'a> Frame<'a> {
    /// Creates a frame that needs no other, of a stream without layers.
    #[must_use]
    pub fn new(data: &'a [u8], timestamp: u32, captured_at: Instant) -> Frame<'a> {
        Frame {
            data,
            timestamp,
            keyframe: true,
            temporal_layer: None,
            layer_sync: false,
            non_reference: false,
            captured_at,
            audio_level: None,
        }
    }
}
