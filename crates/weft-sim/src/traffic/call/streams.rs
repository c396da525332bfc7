//! Streams of a call's ends: their identifiers on the wire and the sources of their
//! frames.

use weft_experiment::{MicrophoneSetup, SideSetup};
use weft_publish::Allowance;
use weft_session::{
    Delivery, Feedback, Frame, Level, ReceiveStreamConfig, Retransmission, SendStreamConfig,
    Session,
};
use weft_units::{Bytes, Codec, Instant, Rng, Ssrc, StreamId};

use super::End;
use super::sink::Frames;
use super::source::{Camera, EncodedFrame};

/// Stream that this end sends.
pub(super) struct Outgoing {
    pub stream: StreamId,
    codec: Codec,
    pub source: Source,
    pub keyframe_requests: Vec<Instant>,
}

pub(super) enum Source {
    Camera(Camera),
    Microphone {
        setup: MicrophoneSetup,
        start: Instant,
        packets: u64,
    },
}

/// Payload format of all picture frames, for any model: its payload descriptor contains
/// everything that a receiver must know about a frame without contents.
const PICTURES: Codec = Codec::Vp8;

/// Returns the SSRCs of a stream, of its retransmissions and of its repair packets.
fn ssrcs(end: End, index: usize) -> (Ssrc, Ssrc, Ssrc) {
    let first = match end {
        End::Caller => 0x1000,
        End::Callee => 0x2000,
    };
    let ssrc = first + 3 * index as u32;
    (Ssrc(ssrc), Ssrc(ssrc + 1), Ssrc(ssrc + 2))
}

/// Payload types of a stream, of its retransmissions and of its repair packets: dynamic
/// ones (RFC 3551 section 6).
const VIDEO_TYPES: (u8, u8, u8) = (96, 97, 98);
const AUDIO_TYPE: u8 = 111;

/// Returns whether an RTP packet is a repair packet (payload type, RFC 3550 section 5.1).
pub(super) fn is_repair(packet: &[u8]) -> bool {
    packet
        .get(1)
        .is_some_and(|byte| byte & 0x7f == VIDEO_TYPES.2)
}

fn feedback(level: Level) -> Feedback {
    match level {
        Level::Full | Level::SenderSide => Feedback::EachPacket,
        Level::Single => Feedback::Reports,
    }
}

/// Adds the streams that this end sends.
pub(super) fn outgoing(
    now: Instant,
    end: End,
    setup: &SideSetup,
    session: &mut Session,
    rng: &Rng,
) -> Vec<Outgoing> {
    let (level, mut all) = (session.level(), Vec::new());
    for (index, camera) in setup.cameras.iter().enumerate() {
        let (ssrc, rtx, fec) = ssrcs(end, index);
        let stream = session.add_send_stream(SendStreamConfig {
            ssrc,
            retransmission: Retransmission::Rtx(rtx, VIDEO_TYPES.1),
            fec: Some((fec, VIDEO_TYPES.2)),
            payload_type: VIDEO_TYPES.0,
            codec: PICTURES,
            mid: None,
            rid: None,
            feedback: feedback(level),
        });
        let rng = rng.stream("camera").stream(&index.to_string());
        all.push(Outgoing {
            stream,
            codec: PICTURES,
            source: Source::Camera(Camera::new(camera, now, rng)),
            keyframe_requests: Vec::new(),
        });
    }
    for (index, microphone) in setup.microphones.iter().enumerate() {
        let (ssrc, ..) = ssrcs(end, setup.cameras.len() + index);
        let stream = session.add_send_stream(SendStreamConfig {
            ssrc,
            retransmission: Retransmission::None,
            fec: None,
            payload_type: AUDIO_TYPE,
            codec: Codec::Opus,
            mid: None,
            rid: None,
            feedback: feedback(level),
        });
        all.push(Outgoing {
            stream,
            codec: Codec::Opus,
            source: Source::Microphone {
                setup: *microphone,
                start: now,
                packets: 0,
            },
            keyframe_requests: Vec::new(),
        });
    }
    all
}

/// Adds the streams that the other end sends.
pub(super) fn incoming(end: End, other: &SideSetup, session: &mut Session) -> Vec<StreamId> {
    let sender = match end {
        End::Caller => End::Callee,
        End::Callee => End::Caller,
    };
    let cameras = other.cameras.len();
    let add = |index| {
        let (ssrc, rtx, fec) = ssrcs(sender, index);
        let video = index < cameras;
        session.add_receive_stream(ReceiveStreamConfig {
            ssrc: Some(ssrc),
            mid: None,
            rid: None,
            payload_type: if video { VIDEO_TYPES.0 } else { AUDIO_TYPE },
            rtx: video.then_some((Some(rtx), VIDEO_TYPES.1)),
            fec: video.then_some((Some(fec), VIDEO_TYPES.2)),
            codec: if video { PICTURES } else { Codec::Opus },
            delivery: Delivery::Frames,
        })
    };
    (0..cameras + other.microphones.len()).map(add).collect()
}

impl Source {
    /// Creates a source that never has a frame.
    pub fn silent() -> Source {
        Source::Microphone {
            setup: MicrophoneSetup::default(),
            start: Instant::from_nanos(u64::MAX),
            packets: 0,
        }
    }

    pub fn next_at(&self) -> Instant {
        match self {
            Source::Camera(camera) => camera.next_at(),
            Source::Microphone {
                setup,
                start,
                packets,
            } => *start + setup.packet_time * *packets,
        }
    }
}

impl Outgoing {
    /// Passes the next frame to the session.
    pub fn send(
        &mut self,
        now: Instant,
        allowance: &Allowance,
        frames: &mut Frames,
        buffer: &mut Vec<u8>,
        session: &mut Session,
    ) {
        let encoded = match &mut self.source {
            Source::Camera(camera) => match camera.take_frame(now, allowance) {
                Some(frame) => frame,
                None => return,
            },
            Source::Microphone { setup, packets, .. } => {
                *packets += 1;
                EncodedFrame::plain(Bytes(setup.bytes() as u64), true)
            }
        };
        let data = frames.encode(now, &encoded, buffer);
        let ticks =
            u128::from(now.as_nanos()) * u128::from(self.codec.clock_rate()) / 1_000_000_000;
        let frame = Frame {
            data,
            timestamp: ticks as u32,
            keyframe: encoded.keyframe,
            temporal_layer: encoded.temporal_layer,
            layer_sync: encoded.layer_sync,
            non_reference: encoded.non_reference,
            captured_at: now,
            audio_level: None,
        };
        // The stream was added at the start and is never removed.
        let sent = session.send_frame(now, self.stream, &frame);
        debug_assert_eq!(sent, Ok(()));
    }
}
