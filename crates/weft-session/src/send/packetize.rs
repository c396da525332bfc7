use weft_wire::h264::{self, FragmentHeader};
use weft_wire::vp8::Descriptor;

use crate::Frame;
use crate::schedule::Class;

/// What header, extensions and the descriptor take of a packet at most: 12
/// bytes of fixed header, 4 + 16 of extensions, 6 of VP8 descriptor, 2 of RTX.
pub(crate) const HEADROOM: usize = 40;

/// What one packet carries of a frame.
pub(crate) struct Part<'a> {
    pub class: Class,
    pub prefix: Prefix,
    pub data: &'a [u8],
}

/// What stands in front of a packet's share of its frame.
pub(crate) enum Prefix {
    None,
    Vp8(Descriptor),
    H264(FragmentHeader),
}

impl Prefix {
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Prefix::None => {}
            Prefix::Vp8(descriptor) => descriptor.write(out),
            Prefix::H264(fragment) => fragment.write(out),
        }
    }
}

/// Cuts a byte stream of H.264 into packets of one NAL unit or a part of one
/// (RFC 6184 sections 5.6 and 5.8). Parameter sets travel alone, since they
/// are worth more than the rest.
pub(crate) fn packetize_h264<'a>(
    frame: &Frame<'a>,
    class: Class,
    max_payload: usize,
) -> impl Iterator<Item = Part<'a>> {
    let units = h264::nal_units(frame.data);
    let parts = units.flat_map(move |unit| h264::parts(unit, max_payload));
    parts.map(move |part| Part {
        class: if part.header.is_sequence_parameters() {
            Class::SequenceParameters
        } else if part.header.is_picture_parameters() {
            Class::PictureParameters
        } else {
            class
        },
        prefix: part.fragment.map_or(Prefix::None, Prefix::H264),
        data: part.data,
    })
}

/// What a packet of H.264 that comes from elsewhere is; `otherwise` if it has
/// slices.
pub(crate) fn class_of_h264(payload: &[u8], otherwise: Class) -> Class {
    let contents = h264::parse(payload).map(|payload| payload.contents());
    match contents.unwrap_or_default() {
        c if c.idr || c.delta => otherwise,
        c if c.sequence_parameters => Class::SequenceParameters,
        c if c.picture_parameters => Class::PictureParameters,
        _ => otherwise,
    }
}

/// Cuts a VP8 frame into parts of about equal size (RFC 7741 section 4.1),
/// each with its descriptor.
pub(crate) fn packetize_vp8<'a>(
    frame: &Frame<'a>,
    class: Class,
    picture_id: u16,
    tl0_picture_index: u8,
    max_payload: usize,
) -> impl Iterator<Item = Part<'a>> {
    let count = frame.data.len().div_ceil(max_payload).max(1);
    let size = frame.data.len().div_ceil(count).max(1);
    let layered = frame.temporal_layer.is_some();
    let first = Descriptor {
        non_reference: frame.non_reference,
        start_of_partition: true,
        partition: 0,
        picture_id: Some(picture_id),
        tl0_picture_index: layered.then_some(tl0_picture_index),
        temporal_layer: frame.temporal_layer,
        layer_sync: frame.layer_sync,
        key_index: None,
    };
    let chunks = frame.data.chunks(size).enumerate();
    chunks.map(move |(index, chunk)| {
        let descriptor = Descriptor {
            start_of_partition: index == 0,
            ..first
        };
        Part {
            class,
            prefix: Prefix::Vp8(descriptor),
            data: chunk,
        }
    })
}
