use weft_units::{AudioLevel, Bytes, Ecn, Instant, PathId, Rate, Ssrc, StreamId};
use weft_wire::media::{MediaPacket, SharedBytes};

use crate::config::Retransmission;
use crate::path::PathState;
use crate::receive::ReceivedFrame;

/// Input of a session.
#[derive(Debug)]
pub enum Input<'a> {
    /// An RTP packet, decrypted, from this path.
    Rtp {
        /// The path that it came by.
        path: PathId,
        /// The ECN field that it came with.
        ecn: Ecn,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// An RTP packet, decrypted, that came before by this path or another.
    /// Its stream has it already; its path has shown what it does.
    RtpAgain {
        /// The path that it came by.
        path: PathId,
        /// The ECN field that it came with.
        ecn: Ecn,
        /// Header and payload.
        packet: &'a [u8],
    },
    /// A compound RTCP packet, decrypted, from this path.
    Rtcp {
        /// The path that it came by.
        path: PathId,
        /// The whole compound packet.
        packet: &'a [u8],
    },
    /// The association found the path valid, for the first time or again.
    PathUp {
        /// The association's number for it.
        path: PathId,
        /// Round-trip time of its checks.
        rtt: weft_units::Duration,
    },
    /// No check is answered any more, on this path or any other, but no path is
    /// better: until [`Input::PathUp`] next to nothing is sent.
    PathSilent {
        /// The association's number for it.
        path: PathId,
    },
    /// The association found the path dead; it may return.
    PathDown {
        /// The association's number for it.
        path: PathId,
    },
    /// The path has left the association for good. The session forgets all
    /// about it; a later path of the same number begins as a new one.
    PathRemoved {
        /// The association's number for it.
        path: PathId,
    },
    /// The time of the last polled deadline has come. A spurious one does
    /// nothing.
    Timeout,
}

/// Output of a session: something to do, or an event.
#[derive(Debug)]
pub enum Output {
    /// Send this packet.
    Transmit(Transmit),
    /// Send a packet again that went out before.
    Repeat(Repeat),
    /// Silence on this path: have the association check all of them.
    SuspectPath(PathId),
    /// Something that the application may want to know.
    Event(Event),
}

/// A packet to protect once and send.
#[derive(Debug)]
pub struct Transmit {
    /// The path to send it on.
    pub path: PathId,
    /// The ECN field to send it with on `path`. Copies are sent Not-ECT: what
    /// becomes of them, nobody tells.
    pub ecn: Ecn,
    /// Paths that get the same protected bytes as well.
    pub copies: Vec<PathId>,
    /// RTP or RTCP packet without `rest`, not yet protected.
    pub packet: Vec<u8>,
    /// End of a forwarded packet's payload, shared with the other receivers;
    /// empty for other packets. Encryption appends it to `packet`.
    pub rest: SharedBytes,
    /// RTP or RTCP.
    pub protocol: Protocol,
    /// Whether it may be asked for again.
    pub retention: Retention,
}

impl Transmit {
    /// Size before protection.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes((self.packet.len() + self.rest.len()) as u64)
    }

    /// Returns the whole packet in one piece, not yet protected.
    #[must_use]
    pub fn into_packet(mut self) -> Vec<u8> {
        self.packet.extend_from_slice(&self.rest);
        self.packet
    }
}

/// How long a packet that was sent is needed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Retention {
    /// Not at all.
    None,
    /// The protected bytes go into a `RepeatStore`.
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

/// Bytes to send again as they were protected the first time: a second
/// encryption under one number would give the key stream away (RFC 7714
/// section 8.1).
#[derive(Clone, Debug)]
pub struct Repeat {
    /// The stream's source.
    pub ssrc: Ssrc,
    /// RTP sequence number.
    pub sequence: u16,
    /// The path to send it on.
    pub path: PathId,
    /// Paths that get it as well.
    pub copies: Vec<PathId>,
}

/// RTP or RTCP: they are protected differently.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Protocol {
    /// A media packet.
    Rtp,
    /// A control packet.
    Rtcp,
}

/// Event for the application.
#[derive(Debug)]
pub enum Event {
    /// The peer needs a keyframe of this stream of ours.
    KeyframeRequested {
        /// The sending stream.
        stream: StreamId,
    },
    /// The sum of what may be sent changed; encoders follow at once.
    TargetRateChanged {
        /// For all streams together, without retransmissions.
        rate: Rate,
    },
    /// A frame is due for decoding.
    FrameReceived {
        /// The receiving stream.
        stream: StreamId,
        /// Whole, in decoding order.
        frame: ReceivedFrame,
    },
    /// A packet came (streams with packet delivery).
    PacketReceived {
        /// The receiving stream.
        stream: StreamId,
        /// The packet, once each, in the order of arrival.
        packet: MediaPacket,
    },
    /// A path changed its state.
    PathStateChanged {
        /// The association's number for it.
        path: PathId,
        /// Its new state.
        state: PathState,
    },
    /// The peer said that this stream has ended (RTCP BYE).
    StreamEnded {
        /// The receiving stream.
        stream: StreamId,
    },
}

/// An encoded frame to send.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// The encoder's bytes: a VP8 frame, an H.264 one as a byte stream (ITU-T
    /// H.264 Annex B), or one Opus packet.
    pub data: &'a [u8],
    /// RTP timestamp in the stream's clock.
    pub timestamp: u32,
    /// Can be decoded without any other.
    pub keyframe: bool,
    /// VP8 temporal layer, if there are any.
    pub temporal_layer: Option<u8>,
    /// The frame refers to the base layer only (RFC 7741 section 4.2, `Y`).
    pub layer_sync: bool,
    /// No later frame refers to it.
    pub non_reference: bool,
    /// When the picture was taken or the sound heard.
    pub captured_at: Instant,
    /// How loud it is, of sound: told to receivers that negotiated that.
    pub audio_level: Option<AudioLevel>,
}

impl<'a> Frame<'a> {
    /// A frame that needs no other, where none has layers.
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
