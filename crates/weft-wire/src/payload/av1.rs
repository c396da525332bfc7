//! AV1 in RTP: the aggregation header (RTP Payload Format For AV1, version 1.0, section
//! 4.4), and the headers of the OBUs after it (AV1 bitstream specification, section 5.3).

use std::fmt;

use weft_units::Codec;

use super::{
    Body, Description, FirstPacket, Form as AnyForm, PayloadFormat, PictureNumbers, Piece,
    PieceInfo, Start,
};
use crate::reader::Reader;
use crate::{ParseError, sdp};

// Aggregation header.
const CONTINUES: u8 = 0x80;
const STARTS_SEQUENCE: u8 = 0x08;
// Header of an OBU.
const HAS_EXTENSION: u8 = 0x04;

/// AV1 as a payload format. The server forwards it; weft has no encoder and no decoder.
#[derive(Debug)]
pub(super) struct Format;

impl PayloadFormat for Format {
    fn first_packet(&self) -> FirstPacket {
        FirstPacket::Inferred
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<Piece<'a>, ParseError> {
        let packet = parse(payload)?;
        let info = PieceInfo {
            start: match packet {
                Packet {
                    starts_sequence: true,
                    ..
                } => Start::Certain,
                Packet {
                    continues: false, ..
                } => Start::Possible,
                _ => Start::Never,
            },
            entry: packet.starts_sequence,
            intra: packet.starts_sequence,
            delta: !packet.starts_sequence && !packet.continues,
            numbers: PictureNumbers {
                temporal_layer: packet.temporal_layer,
                ..PictureNumbers::default()
            },
            ..PieceInfo::SILENT
        };
        Ok(Piece {
            info,
            body: Body::Plain(packet.elements),
        })
    }

    fn has_dependencies(&self) -> bool {
        true
    }

    fn description(&self) -> Description {
        Description {
            payload_type: 104,
            rtx: Some(105),
            channels: None,
            parameters: "level-idx=5;profile=0;tier=0",
            wanted: "AV1",
        }
    }

    fn form(&self, offered: &sdp::Payload) -> Option<AnyForm> {
        Form::of(offered).map(AnyForm::Av1)
    }

    fn answered(&self, offered: &str) -> String {
        offered.to_owned()
    }
}

/// Form of an AV1 stream, or of a receiver's capability, as a payload type describes it
/// (section 7.2.1 of the payload format).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// `seq_profile`: 0 main, 1 high, 2 professional.
    pub profile: u8,
    /// `seq_level_idx`, 0 to 31.
    pub level: u8,
    /// `seq_tier`: 0 main, 1 high.
    pub tier: u8,
}

impl Form {
    /// Form without parameters: main profile, level 3.1, main tier.
    pub const DEFAULT: Form = Form {
        profile: 0,
        level: 5,
        tier: 0,
    };

    fn of(payload: &sdp::Payload) -> Option<Form> {
        let number = |name, default, most| match payload.parameter(name) {
            None => Some(default),
            Some(text) => text.parse().ok().filter(|number: &u8| *number <= most),
        };
        let is_av1 = payload.is(Codec::Av1.encoding());
        is_av1.then_some(())?;
        let Form {
            profile,
            level,
            tier,
        } = Form::DEFAULT;
        Some(Form {
            profile: number("profile", profile, 2)?,
            level: number("level-idx", level, 31)?,
            tier: number("tier", tier, 1)?,
        })
    }

    /// Whether a receiver that lists this form decodes a stream of the other one: both
    /// have the same profile (section 7.2.3). Levels and tiers are ignored, as with H.264,
    /// because browsers list the lowest one and accept more.
    #[must_use]
    pub fn decodes(self, stream: Form) -> bool {
        self.profile == stream.profile
    }

    /// Returns the format parameters (`a=fmtp`) of an offer with this form.
    #[must_use]
    pub fn parameters(self) -> String {
        let Form {
            profile,
            level,
            tier,
        } = self;
        format!("level-idx={level};profile={profile};tier={tier}")
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "profile {}", self.profile)
    }
}

/// Parts of a packet that a forwarder needs.
struct Packet<'a> {
    /// Whether its first element continues an OBU of the previous packet.
    continues: bool,
    /// Whether it is the first of a coded video sequence, which starts with a keyframe.
    starts_sequence: bool,
    /// Temporal layer of the first OBU that starts here and has one.
    temporal_layer: Option<u8>,
    /// OBU elements; none is empty.
    elements: &'a [u8],
}

fn parse(payload: &[u8]) -> Result<Packet<'_>, ParseError> {
    let mut reader = Reader::new(payload, "AV1 payload");
    let header = reader.u8()?;
    let mut packet = Packet {
        continues: header & CONTINUES != 0,
        starts_sequence: header & STARTS_SEQUENCE != 0,
        temporal_layer: None,
        elements: reader.rest(),
    };
    if reader.is_empty() {
        return Err(ParseError::Truncated {
            what: "AV1 payload",
        });
    }
    if packet.continues && packet.starts_sequence {
        return Err(ParseError::Invalid {
            what: "AV1 aggregation header: a sequence starts within an OBU",
        });
    }
    // If there is a count, the last element has no length.
    let count = header >> 4 & 3;
    let mut number = 0_u8;
    while !reader.is_empty() {
        number = number.saturating_add(1);
        let element = match count != 0 && number == count {
            true => {
                let rest = reader.rest();
                reader.take(rest.len())?
            }
            false => {
                let length = leb128(&mut reader)?;
                reader.take(length)?
            }
        };
        let begins_here = number > 1 || !packet.continues;
        if begins_here && packet.temporal_layer.is_none() {
            packet.temporal_layer = temporal_layer(element);
        }
    }
    if count != 0 && number < count {
        return Err(ParseError::Truncated {
            what: "AV1 payload",
        });
    }
    Ok(packet)
}

/// Returns the temporal layer of the OBU that starts here, if it has an extension header.
fn temporal_layer(element: &[u8]) -> Option<u8> {
    match element {
        [header, extension, ..] if header & HAS_EXTENSION != 0 => Some(extension >> 5),
        _ => None,
    }
}

/// Reads a length (AV1 bitstream specification, section 4.10.5), which fits a packet.
fn leb128(reader: &mut Reader<'_>) -> Result<usize, ParseError> {
    const MOST_OCTETS: u32 = 3;
    let mut value = 0;
    for place in 0..MOST_OCTETS {
        let octet = reader.u8()?;
        value |= usize::from(octet & 0x7f) << (7 * place);
        if octet & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err(ParseError::TooLarge {
        what: "AV1 element",
    })
}

#[cfg(test)]
mod tests;
