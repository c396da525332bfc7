//! Parts of SCTP packets (RFC 9260 section 3) that decide how they are sent.

/// Length of the common header, in bytes.
const HEADER: usize = 12;
/// Length of a chunk's type, flags and length fields, in bytes.
const CHUNK_HEADER: usize = 4;
/// Type of chunks with a part of a message.
const DATA: u8 = 0;

/// Whether a packet of our own contains a part of a message.
pub(crate) fn has_data(packet: &[u8]) -> bool {
    let mut chunks = packet.get(HEADER..).unwrap_or_default();
    while let [kind, _, high, low, ..] = *chunks {
        if kind == DATA {
            return true;
        }
        let length = usize::from(u16::from_be_bytes([high, low]));
        let length = length.max(CHUNK_HEADER).next_multiple_of(4);
        chunks = chunks.get(length..).unwrap_or_default();
    }
    false
}
