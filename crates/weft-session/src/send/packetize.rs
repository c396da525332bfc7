use std::sync::Arc;

use weft_wire::vp8::Descriptor;

use crate::Frame;

/// What header, extensions and the descriptor take of a packet at most: 12
/// bytes of fixed header, 4 + 16 of extensions, 6 of VP8 descriptor, 2 of RTX.
pub(crate) const HEADROOM: usize = 40;

/// Cuts a VP8 frame into payloads of about equal size (RFC 7741 section 4.1),
/// each with its descriptor.
pub(crate) fn packetize(
    frame: &Frame<'_>,
    picture_id: u16,
    tl0_picture_index: u8,
    max_payload: usize,
) -> Vec<Arc<[u8]>> {
    let count = frame.data.len().div_ceil(max_payload).max(1);
    let size = frame.data.len().div_ceil(count).max(1);
    let layered = frame.temporal_layer.is_some();
    let mut descriptor = Descriptor {
        non_reference: frame.non_reference,
        start_of_partition: true,
        partition: 0,
        picture_id: Some(picture_id),
        tl0_picture_index: layered.then_some(tl0_picture_index),
        temporal_layer: frame.temporal_layer,
        layer_sync: frame.layer_sync,
        key_index: None,
    };
    let mut payloads = Vec::with_capacity(count);
    let mut payload = Vec::with_capacity(descriptor.len() + size);
    for chunk in frame.data.chunks(size) {
        payload.clear();
        descriptor.write(&mut payload);
        payload.extend_from_slice(chunk);
        payloads.push(Arc::from(&payload[..]));
        descriptor.start_of_partition = false;
    }
    payloads
}
