use weft_wire::vp8::Descriptor;

use crate::Frame;

/// What header, extensions and the descriptor take of a packet at most: 12
/// bytes of fixed header, 4 + 16 of extensions, 6 of VP8 descriptor, 2 of RTX.
pub(crate) const HEADROOM: usize = 40;

/// Cuts a VP8 frame into parts of about equal size (RFC 7741 section 4.1),
/// each with its descriptor.
pub(crate) fn packetize<'a>(
    frame: &Frame<'a>,
    picture_id: u16,
    tl0_picture_index: u8,
    max_payload: usize,
) -> impl ExactSizeIterator<Item = (Descriptor, &'a [u8])> {
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
        (descriptor, chunk)
    })
}
