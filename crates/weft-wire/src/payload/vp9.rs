//! VP9 in RTP: the payload descriptor (RFC 9628 section 4.2).

use weft_units::Codec;

use super::{
    Body, Description, FirstPacket, Form, PayloadFormat, PictureNumbers, Piece, PieceInfo, Prefix,
    Start,
};
use crate::reader::Reader;
use crate::{ParseError, sdp};

// First octet.
const HAS_PICTURE_ID: u8 = 0x80;
const INTER_PICTURE: u8 = 0x40;
const HAS_LAYERS: u8 = 0x20;
const FLEXIBLE: u8 = 0x10;
const START_OF_FRAME: u8 = 0x08;
const HAS_STRUCTURE: u8 = 0x02;
/// In the picture id: 15 bits instead of 7.
const LONG_PICTURE_ID: u8 = 0x80;
/// In the octet of layers.
const SWITCHING_UP_POINT: u8 = 0x10;
/// In a reference index: another one follows. There are at most three.
const MORE_REFERENCES: u8 = 0x01;
const MOST_REFERENCES: usize = 3;
// In the first octet of the scalability structure.
const HAS_SIZES: u8 = 0x10;
const HAS_PICTURE_GROUP: u8 = 0x08;

/// Profiles of VP9 (RFC 9628 section 6).
const PROFILES: std::ops::RangeInclusive<u8> = 0..=3;

/// VP9 as a payload format. The server forwards it; weft has no encoder and no decoder.
#[derive(Debug)]
pub(super) struct Format;

impl PayloadFormat for Format {
    fn first_packet(&self) -> FirstPacket {
        FirstPacket::Marked
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<Piece<'a>, ParseError> {
        let (descriptor, body) = parse(payload)?;
        let is_base = descriptor.spatial_layer == 0;
        let first = descriptor.start_of_frame && is_base;
        // Upper spatial layers of a keyframe refer to its base layer.
        let intra = !descriptor.inter_picture && is_base;
        let info = PieceInfo {
            start: if first { Start::Certain } else { Start::Never },
            entry: first && intra,
            intra,
            delta: descriptor.inter_picture,
            numbers: descriptor.numbers(),
            size: descriptor.size,
            ..PieceInfo::SILENT
        };
        Ok(Piece {
            info,
            body: Body::Plain(body),
        })
    }

    fn renumbered(
        &self,
        payload: &[u8],
        picture_id: u16,
        tl0_shift: u8,
    ) -> Option<(Prefix, usize)> {
        let (descriptor, _) = parse(payload).ok()?;
        descriptor.picture_id?;
        let &[first, second, ..] = payload else {
            return None;
        };
        let [high, low] = picture_id.to_be_bytes();
        let mut octets = vec![first, high | LONG_PICTURE_ID, low];
        let mut replaced = if second & LONG_PICTURE_ID == 0 { 2 } else { 3 };
        if let Some(tl0) = descriptor.tl0_picture_index {
            octets.push(*payload.get(replaced)?);
            octets.push(tl0.wrapping_add(tl0_shift));
            replaced += 2;
        }
        Some((Prefix::new(&octets), replaced))
    }

    /// References name pictures by the difference of their ids.
    fn closes_gaps(&self) -> bool {
        false
    }

    fn has_dependencies(&self) -> bool {
        true
    }

    fn description(&self) -> Description {
        Description {
            payload_type: 106,
            rtx: Some(107),
            channels: None,
            parameters: "profile-id=0",
            wanted: "VP9",
        }
    }

    fn form(&self, offered: &sdp::Payload) -> Option<Form> {
        if !offered.is(Codec::Vp9.encoding()) {
            return None;
        }
        let profile = match offered.parameter("profile-id") {
            None => Some(0),
            Some(text) => text.parse().ok(),
        };
        let profile = profile.filter(|profile| PROFILES.contains(profile))?;
        Some(Form::Vp9 { profile })
    }

    fn answered(&self, offered: &str) -> String {
        offered.to_owned()
    }
}

/// Payload descriptor before each packet's part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Descriptor {
    /// Picture counter of 7 or 15 bits.
    picture_id: Option<u16>,
    /// Whether the frame refers to an earlier picture.
    inter_picture: bool,
    /// Temporal layer, and whether later pictures of higher layers refer to no earlier
    /// picture above this layer.
    temporal_layer: Option<(u8, bool)>,
    spatial_layer: u8,
    /// Counter of the pictures of the base temporal layer, absent in flexible mode.
    tl0_picture_index: Option<u8>,
    /// Whether the packet starts the frame of its layer.
    start_of_frame: bool,
    /// Size of the largest spatial layer.
    size: Option<(u16, u16)>,
}

/// Splits a payload into its descriptor and its part of the frame, which is never empty.
fn parse(payload: &[u8]) -> Result<(Descriptor, &[u8]), ParseError> {
    let mut reader = Reader::new(payload, "VP9 descriptor");
    let first = reader.u8()?;
    let mut descriptor = Descriptor {
        inter_picture: first & INTER_PICTURE != 0,
        start_of_frame: first & START_OF_FRAME != 0,
        ..Descriptor::default()
    };
    if first & HAS_PICTURE_ID != 0 {
        let high = reader.u8()?;
        descriptor.picture_id = Some(match high & LONG_PICTURE_ID {
            0 => u16::from(high),
            _ => u16::from_be_bytes([high & !LONG_PICTURE_ID, reader.u8()?]),
        });
    }
    if first & HAS_LAYERS != 0 {
        let layers = reader.u8()?;
        descriptor.temporal_layer = Some((layers >> 5, layers & SWITCHING_UP_POINT != 0));
        descriptor.spatial_layer = (layers >> 1) & 7;
        if first & FLEXIBLE == 0 {
            descriptor.tl0_picture_index = Some(reader.u8()?);
        }
    }
    if first & FLEXIBLE != 0 && descriptor.inter_picture {
        let mut references = 1;
        while reader.u8()? & MORE_REFERENCES != 0 {
            references += 1;
            if references > MOST_REFERENCES {
                return Err(ParseError::Invalid {
                    what: "VP9 descriptor: more than three references",
                });
            }
        }
    }
    if first & HAS_STRUCTURE != 0 {
        descriptor.size = read_structure(&mut reader)?;
    }
    if reader.is_empty() {
        return Err(ParseError::Truncated {
            what: "VP9 payload",
        });
    }
    Ok((descriptor, reader.rest()))
}

/// Reads the scalability structure; returns the size of the largest layer.
fn read_structure(reader: &mut Reader<'_>) -> Result<Option<(u16, u16)>, ParseError> {
    let first = reader.u8()?;
    let mut size = None;
    if first & HAS_SIZES != 0 {
        for _ in 0..=first >> 5 {
            size = Some((reader.u16()?, reader.u16()?));
        }
    }
    if first & HAS_PICTURE_GROUP != 0 {
        for _ in 0..reader.u8()? {
            let references = (reader.u8()? >> 2) & 3;
            for _ in 0..references {
                reader.u8()?;
            }
        }
    }
    Ok(size)
}

impl Descriptor {
    fn numbers(&self) -> PictureNumbers {
        PictureNumbers {
            picture_id: self.picture_id,
            tl0_picture_index: self.tl0_picture_index,
            temporal_layer: self.temporal_layer.map(|(layer, _)| layer),
            switching_up: self.temporal_layer.is_some_and(|(_, up)| up),
            ..PictureNumbers::default()
        }
    }
}

#[cfg(test)]
mod tests;
