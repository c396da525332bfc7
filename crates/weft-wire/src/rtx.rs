//! Retransmission payload (RFC 4588 section 4): the original sequence number
//! before the original payload.

use crate::ParseError;
use crate::reader::Reader;

/// Parses the original sequence number and payload. A payload too short for a number is
/// an error: padding sent as a probe on the retransmission stream has no original.
pub fn parse(payload: &[u8]) -> Result<(u16, &[u8]), ParseError> {
    let mut reader = Reader::new(payload, "original sequence number");
    let original = reader.u16()?;
    Ok((original, reader.rest()))
}

/// Appends the retransmission payload for a packet.
pub fn write(original_sequence: u16, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&original_sequence.to_be_bytes());
    out.extend_from_slice(payload);
}

#[cfg(test)]
mod tests;
