//! Memory of packets that is used again, so that a packet takes none.

use std::ops::Deref;
use std::sync::Arc;

/// Buffers that packets have left.
#[derive(Default, Debug)]
pub(crate) struct Buffers {
    spare: Vec<Vec<u8>>,
}

/// More than this are not kept: what comes back at once after a large frame.
/// Chosen by us.
const MAX_SPARE: usize = 128;

impl Buffers {
    /// An empty buffer with room for a packet of this length.
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

/// A packet's payload.
#[derive(Debug)]
pub(crate) enum Payload {
    /// Made here.
    Own(Vec<u8>),
    /// Passed on, and shared with the other receivers.
    Shared(Arc<[u8]>),
}

impl Payload {
    pub const NONE: Payload = Payload::Own(Vec::new());
}

impl Deref for Payload {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        match self {
            Payload::Own(bytes) => bytes,
            Payload::Shared(bytes) => bytes,
        }
    }
}
