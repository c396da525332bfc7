//! What one packet says of its frame, and what it carries of it.

use weft_units::Codec;
use weft_wire::h264::{self, Contents};
use weft_wire::vp8::{self, Descriptor};

use super::frame_assembly::FrameInfo;

/// A packet's payload, read.
pub(super) struct Piece<'a> {
    pub(super) info: FrameInfo,
    pub(super) start: Start,
    /// What H.264 says; nothing for VP8.
    pub(super) contents: Contents,
    pub(super) body: Body<'a>,
}

/// Whether a packet is the first of its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Start {
    /// It is, and the frame is a keyframe.
    Keyframe,
    /// It is, and the frame is no keyframe.
    Delta,
    /// It is not, or does not say.
    Unsaid,
}

/// What a packet carries of the frame as the decoder wants it.
pub(super) enum Body<'a> {
    Plain(&'a [u8]),
    H264(h264::Payload<'a>),
}

impl Piece<'_> {
    /// `None` if this is no payload of the codec.
    pub(super) fn parse(codec: Codec, payload: &[u8]) -> Option<Piece<'_>> {
        match codec {
            Codec::Vp8 => {
                let (descriptor, body) = vp8::parse(payload).ok()?;
                let starts = descriptor.start_of_partition && descriptor.partition == 0;
                let start = match (starts, vp8::is_keyframe(&descriptor, body)) {
                    (false, _) => Start::Unsaid,
                    (true, true) => Start::Keyframe,
                    (true, false) => Start::Delta,
                };
                Some(Piece {
                    info: FrameInfo::from(&descriptor),
                    start,
                    contents: Contents::default(),
                    body: Body::Plain(body),
                })
            }
            Codec::Opus => Some(Piece {
                info: FrameInfo::default(),
                start: Start::Keyframe,
                contents: Contents::default(),
                body: Body::Plain(payload),
            }),
            Codec::H264 => {
                let payload = h264::parse(payload).ok()?;
                let contents = payload.contents();
                Some(Piece {
                    info: FrameInfo {
                        non_reference: !contents.referenced,
                        ..FrameInfo::default()
                    },
                    // RFC 6184 numbers no frames and marks no first packets.
                    start: Start::Unsaid,
                    contents,
                    body: Body::H264(payload),
                })
            }
        }
    }
}

impl Body<'_> {
    /// Appends it.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Body::Plain(body) => out.extend_from_slice(body),
            Body::H264(payload) => payload.write_stream(out),
        }
    }
}

impl From<&Descriptor> for FrameInfo {
    fn from(d: &Descriptor) -> FrameInfo {
        FrameInfo {
            picture_id: d.picture_id,
            tl0_picture_index: d.tl0_picture_index,
            temporal_layer: d.temporal_layer,
            layer_sync: d.layer_sync,
            non_reference: d.non_reference,
        }
    }
}
