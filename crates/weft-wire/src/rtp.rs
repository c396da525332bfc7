//! RTP packets (RFC 3550 section 5.1) and their header extensions (RFC 8285).
//!
//! [`peek`], [`parse`] and [`Header::write`] are the hot path: they allocate only if
//! `out` must grow.

pub mod dependency;
mod extension;

pub use dependency::DEPENDENCY_URI;
pub use extension::{
    AUDIO_LEVEL_URI, ExtensionMap, Extensions, MID_URI, Mid, PATH_URI, PathExtension,
    REPAIRED_RID_URI, RID_URI, Rid, TRANSPORT_SEQUENCE_URI,
};

use crate::ParseError;
use crate::reader::Reader;
use weft_units::Ssrc;

const VERSION: u8 = 2;
const FIXED_LEN: usize = 12;
const PADDING_BIT: u8 = 0x20;
const EXTENSION_BIT: u8 = 0x10;
const MARKER_BIT: u8 = 0x80;
const MAX_SOURCES: usize = 15;
/// RFC 3550 section 5.1: the last octet counts the padding, itself included.
pub const MAX_PADDING: usize = 255;

/// Fields of an RTP header that weft reads and writes. Contributing sources are skipped
/// in parsing and never written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Last packet of a video frame, or start of a talk spurt in audio.
    pub marker: bool,
    /// Payload type, 7 bits.
    pub payload_type: u8,
    /// Sequence number as on the wire; see [`crate::sequence`].
    pub sequence: u16,
    /// RTP timestamp in units of the payload type's clock rate.
    pub timestamp: u32,
    /// Source of the stream.
    pub ssrc: Ssrc,
    /// Values of the negotiated header extensions.
    pub extensions: Extensions,
}

impl Default for Header {
    fn default() -> Header {
        Header {
            marker: false,
            payload_type: 0,
            sequence: 0,
            timestamp: 0,
            ssrc: Ssrc(0),
            extensions: Extensions::default(),
        }
    }
}

/// Fields of an SRTP packet that are readable before decryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peek {
    /// Length of the fixed header, contributing sources and extension block:
    /// the part that SRTP authenticates but does not encrypt (RFC 3711 section
    /// 3.1).
    pub header_len: usize,
    /// Source of the stream.
    pub ssrc: Ssrc,
    /// Sequence number as on the wire.
    pub sequence: u16,
    /// Payload type, 7 bits.
    pub payload_type: u8,
}

struct Fixed<'a> {
    header: Header,
    sources: &'a [u8],
    padded: bool,
    /// Profile and content of the extension block.
    extension: Option<(u16, &'a [u8])>,
    rest: &'a [u8],
}

fn parse_fixed(datagram: &[u8]) -> Result<Fixed<'_>, ParseError> {
    let what = "RTP header";
    let (fixed, rest) = datagram
        .split_first_chunk::<FIXED_LEN>()
        .ok_or(ParseError::Truncated { what })?;
    let [first, second, n0, n1, t0, t1, t2, t3, s0, s1, s2, s3] = *fixed;
    if first >> 6 != VERSION {
        return Err(ParseError::Invalid {
            what: "RTP version",
        });
    }
    let header = Header {
        marker: second & MARKER_BIT != 0,
        payload_type: second & !MARKER_BIT,
        sequence: u16::from_be_bytes([n0, n1]),
        timestamp: u32::from_be_bytes([t0, t1, t2, t3]),
        ssrc: Ssrc(u32::from_be_bytes([s0, s1, s2, s3])),
        extensions: Extensions::default(),
    };
    let mut reader = Reader::new(rest, what);
    let contributing_sources = usize::from(first & 0x0f);
    let sources = reader.take(4 * contributing_sources)?;
    let extension = if first & EXTENSION_BIT == 0 {
        None
    } else {
        let profile = reader.u16()?;
        let words = usize::from(reader.u16()?);
        Some((profile, reader.take(4 * words)?))
    };
    Ok(Fixed {
        header,
        sources,
        padded: first & PADDING_BIT != 0,
        extension,
        rest: reader.rest(),
    })
}

/// Reads the fields that SRTP leaves unencrypted. Works on protected and plain
/// packets.
pub fn peek(datagram: &[u8]) -> Result<Peek, ParseError> {
    let fixed = parse_fixed(datagram)?;
    Ok(Peek {
        header_len: datagram.len() - fixed.rest.len(),
        ssrc: fixed.header.ssrc,
        sequence: fixed.header.sequence,
        payload_type: fixed.header.payload_type,
    })
}

/// Parses a plain packet: its header and its payload without padding. The payload of a
/// padding-only packet (a probe) is empty.
///
/// Reads extensions in the one-byte and two-byte form; skips those that are not in `map`
/// or have a wrong size.
pub fn parse<'a>(packet: &'a [u8], map: &ExtensionMap) -> Result<(Header, &'a [u8]), ParseError> {
    let fixed = parse_fixed(packet)?;
    let mut header = fixed.header;
    if let Some((profile, block)) = fixed.extension {
        header.extensions = extension::read_block(profile, block, map);
    }
    let mut payload = fixed.rest;
    if fixed.padded {
        payload = strip_padding(payload)?;
    }
    Ok((header, payload))
}

/// Finds the dependency descriptor of a plain packet; empty if it has none.
#[must_use]
pub fn dependency_of<'a>(packet: &'a [u8], map: &ExtensionMap) -> &'a [u8] {
    let Some(id) = map.dependency else {
        return &[];
    };
    let block = parse_fixed(packet).ok().and_then(|fixed| fixed.extension);
    let found = block.and_then(|(profile, block)| extension::element(profile, block, id));
    found.unwrap_or_default()
}

/// Returns the contributing sources of a packet, which repair packets use.
///
/// # Errors
/// If it is not an RTP packet.
pub fn contributing_sources(packet: &[u8]) -> Result<impl Iterator<Item = Ssrc>, ParseError> {
    let (sources, _) = parse_fixed(packet)?.sources.as_chunks::<4>();
    Ok(sources.iter().map(|s| Ssrc(u32::from_be_bytes(*s))))
}

/// Sets the values that differ between transmissions of a packet to zero: path, path
/// numbers, transport-wide number. Repair packets protect packets in this form, as in
/// libwebrtc, so they can be made before a packet gets its numbers. Data that is not an
/// RTP packet is not changed.
pub fn clear_transport_values(packet: &mut [u8], map: &ExtensionMap) {
    let Ok(fixed) = parse_fixed(packet) else {
        return;
    };
    let Some((profile, block)) = fixed.extension else {
        return;
    };
    let end = packet.len() - fixed.rest.len();
    let start = end - block.len();
    extension::clear_transport_values(profile, &mut packet[start..end], map);
}

/// Removes the padding; its last octet is its length, including itself (RFC 3550 section
/// 5.1).
fn strip_padding(payload: &[u8]) -> Result<&[u8], ParseError> {
    let what = "RTP padding";
    let padding = usize::from(*payload.last().ok_or(ParseError::Truncated { what })?);
    if padding == 0 || padding > payload.len() {
        return Err(ParseError::Invalid { what });
    }
    Ok(&payload[..payload.len() - padding])
}

impl Header {
    /// Appends the header in wire format, with extensions in the one-byte form (RFC 8285
    /// section 4.2). Writes an extension if it has a value and an id in `map` that this
    /// form supports (1 to 14).
    pub fn write(&self, map: &ExtensionMap, out: &mut Vec<u8>) {
        self.write_all(map, &[], &[], out);
    }

    /// Appends the header with this dependency descriptor, unless it is empty. A descriptor
    /// of more than 16 octets needs the two-byte form (RFC 8285 section 4.3).
    pub fn write_with_dependency(&self, map: &ExtensionMap, dependency: &[u8], out: &mut Vec<u8>) {
        self.write_all(map, &[], dependency, out);
    }

    /// Appends the header with the first 15 of these contributing sources (RFC 3550
    /// section 5.1).
    pub fn write_with_sources(&self, map: &ExtensionMap, sources: &[Ssrc], out: &mut Vec<u8>) {
        self.write_all(map, sources, &[], out);
    }

    fn write_all(
        &self,
        map: &ExtensionMap,
        sources: &[Ssrc],
        dependency: &[u8],
        out: &mut Vec<u8>,
    ) {
        let sources = &sources[..sources.len().min(MAX_SOURCES)];
        let start = out.len();
        let marker = if self.marker { MARKER_BIT } else { 0 };
        let mut fixed = [0; FIXED_LEN];
        fixed[0] = VERSION << 6 | sources.len() as u8;
        fixed[1] = marker | (self.payload_type & !MARKER_BIT);
        fixed[2..4].copy_from_slice(&self.sequence.to_be_bytes());
        fixed[4..8].copy_from_slice(&self.timestamp.to_be_bytes());
        fixed[8..12].copy_from_slice(&self.ssrc.0.to_be_bytes());
        out.extend_from_slice(&fixed);
        for source in sources {
            out.extend_from_slice(&source.0.to_be_bytes());
        }
        if extension::write_block(&self.extensions, dependency, map, out) {
            out[start] |= EXTENSION_BIT;
        }
    }

    /// Appends a packet that consists of the maximum padding.
    pub fn write_padding(&self, map: &ExtensionMap, out: &mut Vec<u8>) {
        let start = out.len();
        self.write(map, out);
        out[start] |= PADDING_BIT;
        out.resize(out.len() + MAX_PADDING - 1, 0);
        out.push(MAX_PADDING as u8);
    }
}

#[cfg(test)]
mod tests;
