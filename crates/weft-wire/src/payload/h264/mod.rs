//! H.264 in RTP (RFC 6184, packetization modes 0 and 1): single NAL units,
//! STAP-A and FU-A; byte streams of Annex B, for encoders and decoders; the
//! format in session descriptions.

use super::{
    Body, Content, Description, FirstPacket, PayloadFormat, PictureNumbers, Piece, PieceInfo,
    Prefix, Start,
};
use crate::reader::Reader;
use crate::{ParseError, sdp};

mod form;
mod headers;
mod profile;
mod units;

pub(super) use form::unsupported;
pub use form::{Form, Packetization};
pub use headers::{PictureParameters, Quantizers, SequenceParameters};
pub use profile::Profile;
pub use units::{FragmentHeader, Part, nal_units, parts};

/// H.264 as a payload format.
#[derive(Debug)]
pub(super) struct Format;

impl PayloadFormat for Format {
    /// RFC 6184 neither numbers frames nor marks their first packets.
    fn first_packet(&self) -> FirstPacket {
        FirstPacket::Inferred
    }

    fn has_parameters(&self) -> bool {
        true
    }

    fn read<'a>(&self, payload: &'a [u8]) -> Result<Piece<'a>, ParseError> {
        let payload = parse(payload)?;
        Ok(Piece {
            info: payload.contents().into(),
            body: Body::H264(payload),
        })
    }

    /// Packets with one NAL unit or a part of one (RFC 6184 sections 5.6 and 5.8).
    /// Parameter sets are sent separately, because they are more important than the rest.
    fn cut<'a>(
        &self,
        frame: &'a [u8],
        _: PictureNumbers,
        max_payload: usize,
    ) -> Vec<super::Part<'a>> {
        let units = nal_units(frame);
        let parts = units.flat_map(|unit| parts(unit, max_payload));
        let parts = parts.map(|part| super::Part {
            content: part.header.content(),
            prefix: part.fragment.map_or(Prefix::default(), |f| f.prefix()),
            data: part.data,
        });
        parts.collect()
    }

    fn description(&self) -> Description {
        Description {
            payload_type: 102,
            rtx: Some(103),
            channels: None,
            parameters: "",
            wanted: "H.264",
        }
    }

    fn form(&self, offered: &sdp::Payload) -> Option<super::Form> {
        Form::of(offered).map(super::Form::H264)
    }

    /// Repeats the offered profile, level and packetization mode. Profile and mode must
    /// not change (RFC 6184 section 8.2.2), and the level can stay, because we forward
    /// all levels.
    fn answered(&self, offered: &str) -> String {
        offered.to_owned()
    }
}

/// Start code before each NAL unit in a byte stream (ITU-T H.264 Annex B).
pub const START_CODE: [u8; 4] = [0, 0, 0, 1];

/// NAL unit types (ITU-T H.264 table 7-1, RFC 6184 table 1).
const SLICE: u8 = 1;
const LAST_PARTITION: u8 = 4;
const IDR: u8 = 5;
const SEQUENCE_PARAMETERS: u8 = 7;
const PICTURE_PARAMETERS: u8 = 8;
const DELIMITER: u8 = 9;
/// First type that is a packetization instead of a NAL unit.
const FIRST_PACKING: u8 = 24;
const STAP_A: u8 = 24;
const FU_A: u8 = 28;

/// Header of a NAL unit, without the forbidden bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NalHeader {
    /// `nal_ref_idc`, 2 bits: zero if nothing refers to the unit.
    pub reference: u8,
    /// `nal_unit_type`, 5 bits.
    pub kind: u8,
}

impl NalHeader {
    /// Parses this octet.
    ///
    /// # Errors
    /// If the forbidden bit is set, which marks a damaged unit.
    pub fn parse(octet: u8) -> Result<NalHeader, ParseError> {
        if octet & 0x80 != 0 {
            return Err(ParseError::Invalid {
                what: "H.264 NAL unit header",
            });
        }
        Ok(NalHeader {
            reference: octet >> 5,
            kind: octet & 0x1f,
        })
    }

    /// Returns the header octet; values wider than their field lose their high bits.
    #[must_use]
    pub const fn octet(self) -> u8 {
        (self.reference & 3) << 5 | self.kind & 0x1f
    }

    /// Returns the importance of a packet with this unit or a part of it.
    #[must_use]
    pub const fn content(self) -> Content {
        match self.kind {
            SEQUENCE_PARAMETERS => Content::SequenceParameters,
            PICTURE_PARAMETERS => Content::PictureParameters,
            _ => Content::Media,
        }
    }
}

/// Content of one RTP packet. No part of it is empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Payload<'a> {
    /// Complete NAL unit, with its header (RFC 6184 section 5.6).
    Unit(&'a [u8]),
    /// Several units, each after its size in 16 bits (section 5.7.1, STAP-A).
    Units(&'a [u8]),
    /// Part of a unit, without its header (section 5.8, FU-A).
    Fragment(FragmentHeader, &'a [u8]),
}

/// Properties of a picture known from one of its packets.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Contents {
    /// Sequence parameter set.
    pub sequence_parameters: bool,
    /// Picture parameter set.
    pub picture_parameters: bool,
    /// Slice of an IDR picture, which needs only its parameters and no other picture.
    pub idr: bool,
    /// Slice that refers to other pictures.
    pub delta: bool,
    /// Slice that other pictures may refer to.
    pub referenced: bool,
    /// Whether the packet starts with the start of a NAL unit.
    pub begins_unit: bool,
    /// Whether the packet starts with a unit that precedes all others of a picture: a
    /// delimiter, or sequence parameters.
    pub begins_picture: bool,
}

/// Parses an RTP payload.
///
/// # Errors
/// If it is truncated, damaged, or packetized in another mode.
pub fn parse(payload: &[u8]) -> Result<Payload<'_>, ParseError> {
    let mut reader = Reader::new(payload, "H.264 payload");
    let header = NalHeader::parse(reader.u8()?)?;
    match header.kind {
        STAP_A => {
            let units = reader.rest();
            let mut sizes = Units(units).peekable();
            if sizes.peek().is_none() {
                return Err(ParseError::Truncated { what: "STAP-A" });
            }
            for unit in sizes {
                let (&first, _) = unit?.split_first().ok_or(EMPTY)?;
                if NalHeader::parse(first)?.kind >= FIRST_PACKING {
                    return Err(ParseError::Invalid {
                        what: "NAL unit in STAP-A",
                    });
                }
            }
            Ok(Payload::Units(units))
        }
        FU_A => {
            let fragment = FragmentHeader::parse(header.reference, reader.u8()?)?;
            match reader.rest() {
                [] => Err(EMPTY),
                data => Ok(Payload::Fragment(fragment, data)),
            }
        }
        0 | FIRST_PACKING.. => Err(ParseError::Invalid {
            what: "H.264 payload type",
        }),
        _ => Ok(Payload::Unit(payload)),
    }
}

const EMPTY: ParseError = ParseError::Truncated {
    what: "H.264 NAL unit",
};

/// Appends a STAP-A of whole NAL units (RFC 6184 section 5.7.1). Omits units of more than
/// 65535 octets, which do not fit.
pub fn write_units(units: &[&[u8]], out: &mut Vec<u8>) {
    let references = units.iter().filter_map(|u| u.first());
    let reference = references.map(|octet| octet >> 5 & 3).max().unwrap_or(0);
    let kind = STAP_A;
    out.push(NalHeader { reference, kind }.octet());
    for unit in units {
        if let Ok(size) = u16::try_from(unit.len()) {
            out.extend_from_slice(&size.to_be_bytes());
            out.extend_from_slice(unit);
        }
    }
}

impl Payload<'_> {
    /// Returns the properties of its picture.
    #[must_use]
    pub fn contents(&self) -> Contents {
        let mut contents = Contents::default();
        match *self {
            Payload::Unit(unit) => contents.add(unit),
            Payload::Units(units) => {
                let whole = Units(units).map_while(Result::ok);
                whole.for_each(|unit| contents.add(unit));
            }
            Payload::Fragment(fragment, _) => {
                contents.add(&[fragment.header.octet()]);
                contents.begins_unit &= fragment.start;
                contents.begins_picture &= fragment.start;
            }
        }
        contents
    }

    /// Appends it as part of a byte stream: start codes, and the header that the first
    /// fragment represents.
    pub fn write_stream(&self, out: &mut Vec<u8>) {
        let mut add = |unit: &[u8]| {
            out.extend_from_slice(&START_CODE);
            out.extend_from_slice(unit);
        };
        match *self {
            Payload::Unit(unit) => add(unit),
            Payload::Units(units) => Units(units).map_while(Result::ok).for_each(add),
            Payload::Fragment(fragment, data) => {
                if fragment.start {
                    add(&[fragment.header.octet()]);
                }
                out.extend_from_slice(data);
            }
        }
    }
}

impl Contents {
    /// Adds a NAL unit, of which only the header is used.
    fn add(&mut self, unit: &[u8]) {
        let Some(Ok(header)) = unit.first().map(|octet| NalHeader::parse(*octet)) else {
            return;
        };
        let is_first = *self == Contents::default();
        self.begins_unit = true;
        match header.kind {
            SEQUENCE_PARAMETERS => self.sequence_parameters = true,
            PICTURE_PARAMETERS => self.picture_parameters = true,
            IDR => self.idr = true,
            SLICE..=LAST_PARTITION => self.delta = true,
            _ => {}
        }
        let is_slice = (SLICE..=IDR).contains(&header.kind);
        self.referenced |= is_slice && header.reference > 0;
        self.begins_picture |= is_first && matches!(header.kind, SEQUENCE_PARAMETERS | DELIMITER);
    }
}

impl From<Contents> for PieceInfo {
    fn from(contents: Contents) -> PieceInfo {
        PieceInfo {
            start: match (contents.begins_picture, contents.begins_unit) {
                (true, _) => Start::Likely,
                (false, true) => Start::Possible,
                (false, false) => Start::Never,
            },
            entry: contents.sequence_parameters,
            intra: contents.idr,
            delta: contents.delta,
            sequence_parameters: contents.sequence_parameters,
            picture_parameters: contents.picture_parameters,
            size: None,
            numbers: PictureNumbers {
                non_reference: !contents.referenced,
                ..PictureNumbers::default()
            },
        }
    }
}

/// NAL units preceded by their sizes.
struct Units<'a>(&'a [u8]);

impl<'a> Iterator for Units<'a> {
    type Item = Result<&'a [u8], ParseError>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let mut reader = Reader::new(self.0, "NAL unit in STAP-A");
        let unit = reader.u16().and_then(|size| reader.take(size.into()));
        self.0 = if unit.is_ok() { reader.rest() } else { &[] };
        Some(unit)
    }
}

#[cfg(test)]
mod tests;
