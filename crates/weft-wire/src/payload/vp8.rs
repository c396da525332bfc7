//! VP8 in RTP: the payload descriptor (RFC 7741 section 4.2) and the part of
//! the frame header (RFC 6386 section 9.1) that a forwarder needs.

use weft_units::Codec;

use super::{
    Body, Content, Description, FirstPacket, Form, Part, PayloadFormat, PictureNumbers, Piece,
    PieceInfo, Prefix, Start,
};
use crate::reader::Reader;
use crate::{ParseError, sdp};

// First octet.
const EXTENDED: u8 = 0x80;
const NON_REFERENCE: u8 = 0x20;
const START_OF_PARTITION: u8 = 0x10;
const PARTITION: u8 = 0x07;
// Second octet: presence of the fields that follow.
const HAS_PICTURE_ID: u8 = 0x80;
const HAS_TL0_PICTURE_INDEX: u8 = 0x40;
const HAS_TEMPORAL_LAYER: u8 = 0x20;
const HAS_KEY_INDEX: u8 = 0x10;
/// In the picture id: 15 bits instead of 7.
const LONG_PICTURE_ID: u8 = 0x80;
/// In the octet shared by temporal layer and key index.
const LAYER_SYNC: u8 = 0x20;
const KEY_INDEX: u8 = 0x1f;

/// VP8 as a payload format.
#[derive(Debug)]
pub(super) struct Format;

impl PayloadFormat for Format {
    fn first_packet(&self) -> FirstPacket {
        FirstPacket::Marked
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<Piece<'a>, ParseError> {
        let (descriptor, body) = parse(payload)?;
        let first = descriptor.starts_frame();
        let intra = is_keyframe(&descriptor, body);
        let info = PieceInfo {
            start: if first { Start::Certain } else { Start::Never },
            entry: intra,
            intra,
            delta: first && !intra,
            numbers: descriptor.numbers(),
            size: dimensions(body).filter(|_| intra),
            ..PieceInfo::SILENT
        };
        Ok(Piece {
            info,
            body: Body::Plain(body),
        })
    }

    /// Splits a frame into parts of about equal size (RFC 7741 section 4.1),
    /// each with its descriptor.
    fn cut<'a>(
        &self,
        frame: &'a [u8],
        numbers: PictureNumbers,
        max_payload: usize,
    ) -> Vec<Part<'a>> {
        let count = frame.len().div_ceil(max_payload).max(1);
        let size = frame.len().div_ceil(count).max(1);
        let prefix = |start_of_partition| {
            let descriptor = Descriptor {
                non_reference: numbers.non_reference,
                start_of_partition,
                partition: 0,
                picture_id: numbers.picture_id,
                tl0_picture_index: numbers.tl0_picture_index,
                temporal_layer: numbers.temporal_layer,
                layer_sync: numbers.layer_sync,
                key_index: None,
            };
            descriptor.prefix()
        };
        let (first, later) = (prefix(true), prefix(false));
        let chunks = frame.chunks(size).enumerate();
        let parts = chunks.map(|(index, data)| Part {
            content: Content::Media,
            prefix: if index == 0 { first } else { later },
            data,
        });
        parts.collect()
    }

    fn renumbered(
        &self,
        payload: &[u8],
        picture_id: u16,
        tl0_shift: u8,
    ) -> Option<(Prefix, usize)> {
        let (mut descriptor, body) = parse(payload).ok()?;
        descriptor.picture_id = descriptor.picture_id.map(|_| picture_id);
        let tl0 = descriptor.tl0_picture_index;
        descriptor.tl0_picture_index = tl0.map(|tl0| tl0.wrapping_add(tl0_shift));
        Some((descriptor.prefix(), payload.len() - body.len()))
    }

    fn description(&self) -> Description {
        Description {
            payload_type: 96,
            rtx: Some(97),
            channels: None,
            parameters: "",
            wanted: "VP8",
        }
    }

    fn form(&self, offered: &sdp::Payload) -> Option<Form> {
        let is_same = offered.is(Codec::Vp8.encoding());
        is_same.then_some(Form::Plain(Codec::Vp8))
    }
}

/// Payload descriptor before each packet's part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Descriptor {
    /// Whether no later frame refers to this one, so that a forwarder may drop it.
    pub non_reference: bool,
    /// Whether the packet starts a partition (for partition 0, the frame).
    pub start_of_partition: bool,
    /// Partition index, 3 bits.
    pub partition: u8,
    /// Frame counter of 15 bits. Both lengths are read; the long one is written.
    pub picture_id: Option<u16>,
    /// Counter of the frames of the base temporal layer.
    pub tl0_picture_index: Option<u8>,
    /// Temporal layer, 2 bits.
    pub temporal_layer: Option<u8>,
    /// Whether the frame refers only to the base layer, so that a receiver may switch up
    /// here. Meaningless without `temporal_layer`.
    pub layer_sync: bool,
    /// Keyframe counter, 5 bits.
    pub key_index: Option<u8>,
}

/// Splits a payload into its descriptor and its part of the frame, which is
/// never empty.
pub fn parse(payload: &[u8]) -> Result<(Descriptor, &[u8]), ParseError> {
    let mut reader = Reader::new(payload, "VP8 descriptor");
    let first = reader.u8()?;
    let mut descriptor = Descriptor {
        non_reference: first & NON_REFERENCE != 0,
        start_of_partition: first & START_OF_PARTITION != 0,
        partition: first & PARTITION,
        ..Descriptor::default()
    };
    if first & EXTENDED != 0 {
        let present = reader.u8()?;
        if present & HAS_PICTURE_ID != 0 {
            let high = reader.u8()?;
            descriptor.picture_id = Some(if high & LONG_PICTURE_ID == 0 {
                u16::from(high)
            } else {
                u16::from_be_bytes([high & !LONG_PICTURE_ID, reader.u8()?])
            });
        }
        if present & HAS_TL0_PICTURE_INDEX != 0 {
            descriptor.tl0_picture_index = Some(reader.u8()?);
        }
        if present & (HAS_TEMPORAL_LAYER | HAS_KEY_INDEX) != 0 {
            let shared = reader.u8()?;
            if present & HAS_TEMPORAL_LAYER != 0 {
                descriptor.temporal_layer = Some(shared >> 6);
                descriptor.layer_sync = shared & LAYER_SYNC != 0;
            }
            if present & HAS_KEY_INDEX != 0 {
                descriptor.key_index = Some(shared & KEY_INDEX);
            }
        }
    }
    if reader.is_empty() {
        return Err(ParseError::Truncated {
            what: "VP8 payload",
        });
    }
    Ok((descriptor, reader.rest()))
}

impl Descriptor {
    fn present(&self) -> u8 {
        let bit = |present: bool, bit: u8| if present { bit } else { 0 };
        bit(self.picture_id.is_some(), HAS_PICTURE_ID)
            | bit(self.tl0_picture_index.is_some(), HAS_TL0_PICTURE_INDEX)
            | bit(self.temporal_layer.is_some(), HAS_TEMPORAL_LAYER)
            | bit(self.key_index.is_some(), HAS_KEY_INDEX)
    }

    /// Returns the number of octets that [`Descriptor::write`] appends.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a descriptor is never empty")]
    pub fn len(&self) -> usize {
        let present = self.present();
        let octets = |bits: u8, octets: usize| if present & bits == 0 { 0 } else { octets };
        1 + octets(present, 1)
            + octets(HAS_PICTURE_ID, 2)
            + octets(HAS_TL0_PICTURE_INDEX, 1)
            + octets(HAS_TEMPORAL_LAYER | HAS_KEY_INDEX, 1)
    }

    /// Appends the descriptor in wire form. Values wider than their field
    /// lose their high bits.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix().octets());
    }

    /// Returns the descriptor as the prefix of a packet.
    #[must_use]
    pub fn prefix(&self) -> Prefix {
        let present = self.present();
        let mut first = self.partition & PARTITION;
        if present != 0 {
            first |= EXTENDED;
        }
        if self.non_reference {
            first |= NON_REFERENCE;
        }
        if self.start_of_partition {
            first |= START_OF_PARTITION;
        }
        // The first octet, the presence octet, and the fields at maximum length.
        let mut octets: [u8; Prefix::MAX] = [first, present, 0, 0, 0, 0];
        let mut len = if present == 0 { 1 } else { 2 };
        let mut put = |octet: u8| {
            octets[len] = octet;
            len += 1;
        };
        if let Some(id) = self.picture_id {
            let [high, low] = id.to_be_bytes();
            put(high | LONG_PICTURE_ID);
            put(low);
        }
        if let Some(index) = self.tl0_picture_index {
            put(index);
        }
        if self.temporal_layer.is_some() || self.key_index.is_some() {
            let mut shared = self.key_index.unwrap_or(0) & KEY_INDEX;
            if let Some(layer) = self.temporal_layer {
                shared |= layer << 6;
                if self.layer_sync {
                    shared |= LAYER_SYNC;
                }
            }
            put(shared);
        }
        Prefix::new(&octets[..len])
    }

    /// Whether the packet starts its frame.
    const fn starts_frame(&self) -> bool {
        self.start_of_partition && self.partition == 0
    }

    const fn numbers(&self) -> PictureNumbers {
        PictureNumbers {
            picture_id: self.picture_id,
            tl0_picture_index: self.tl0_picture_index,
            temporal_layer: self.temporal_layer,
            layer_sync: self.layer_sync,
            switching_up: false,
            non_reference: self.non_reference,
        }
    }
}

/// Whether this packet starts a keyframe. Only the first packet of a frame carries the
/// inverse key frame bit (RFC 7741 section 4.3).
#[must_use]
pub fn is_keyframe(descriptor: &Descriptor, body: &[u8]) -> bool {
    descriptor.starts_frame() && body.first().is_some_and(|b| b & 1 == 0)
}

/// Returns width and height of the keyframe that starts with `body`, without the
/// upscaling hint (RFC 6386 section 9.1). `None` if it is not a keyframe.
#[must_use]
pub fn dimensions(body: &[u8]) -> Option<(u16, u16)> {
    const SIZE_BITS: u16 = 0x3fff;
    let &[tag, _, _, 0x9d, 0x01, 0x2a, w0, w1, h0, h1, ..] = body else {
        return None;
    };
    if tag & 1 != 0 {
        return None;
    }
    let width = u16::from_le_bytes([w0, w1]) & SIZE_BITS;
    let height = u16::from_le_bytes([h0, h1]) & SIZE_BITS;
    Some((width, height))
}

#[cfg(test)]
mod tests;
