//! Reused packet memory, so that packets need no allocation.

use weft_wire::media::ForwardedPayload;
use weft_wire::rtp::MAX_PADDING;

/// Buffers of former packets.
#[derive(Default, Debug)]
pub(crate) struct Buffers {
    spare: Vec<Vec<u8>>,
}

/// Most buffers that are kept: as many as come back at once after a large frame. Chosen
/// by us.
const MAX_SPARE: usize = 128;

impl Buffers {
    /// Returns an empty buffer with room for a packet of this length.
    pub fn take(&mut self, len: usize) -> Vec<u8> {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.reserve(len);
        buffer
    }

    pub fn put(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < MAX_SPARE && buffer.capacity() > 0 {
            buffer.clear();
            self.spare.push(buffer);
        }
    }
}

/// Payload of a stored packet.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Part of a frame of this session.
    Own(Vec<u8>),
    /// Forwarded payload; its body is shared with the other receivers.
    Forwarded(ForwardedPayload),
    /// Zeros, the longest padding.
    Padding,
}

impl Payload {
    pub const NONE: Payload = Payload::Own(Vec::new());

    /// Returns the octets, in two parts.
    pub fn parts(&self) -> [&[u8]; 2] {
        match self {
            Payload::Own(octets) => [octets, &[]],
            Payload::Forwarded(payload) => [payload.prefix.octets(), &payload.body],
            Payload::Padding => [&[0; MAX_PADDING], &[]],
        }
    }

    pub fn len(&self) -> usize {
        let [first, second] = self.parts();
        first.len() + second.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
