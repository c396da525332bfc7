//! Splits byte streams into the parts of NAL units that packets carry.

use super::{FU_A, NalHeader, Prefix};
use crate::ParseError;

// FU header (RFC 6184 section 5.8).
const START: u8 = 0x80;
const END: u8 = 0x40;
const KIND: u8 = 0x1f;
/// Octets in front of a fragment: FU indicator and FU header.
const FRAGMENT_HEADER: usize = 2;

/// Header of a fragment of a NAL unit, in place of the unit's header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FragmentHeader {
    /// Header of the NAL unit.
    pub header: NalHeader,
    /// Whether it is the first fragment of the unit.
    pub start: bool,
    /// Whether it is the last fragment of the unit.
    pub end: bool,
}

impl FragmentHeader {
    /// Parses the FU header after an indicator with this `nal_ref_idc`.
    pub(super) fn parse(reference: u8, octet: u8) -> Result<FragmentHeader, ParseError> {
        let kind = octet & KIND;
        let fragment = FragmentHeader {
            header: NalHeader { reference, kind },
            start: octet & START != 0,
            end: octet & END != 0,
        };
        // Rejects a fragment that is a packetization, empty, or a whole unit.
        let packs = kind == 0 || kind >= super::FIRST_PACKING;
        if packs || (fragment.start && fragment.end) {
            return Err(ParseError::Invalid { what: "FU header" });
        }
        Ok(fragment)
    }

    /// Appends FU indicator and FU header.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.prefix().octets());
    }

    /// Returns FU indicator and FU header, as the prefix of a packet.
    #[must_use]
    pub fn prefix(&self) -> Prefix {
        let indicator = NalHeader {
            kind: FU_A,
            ..self.header
        };
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let kind = self.header.kind & KIND;
        let header = flag(self.start, START) | flag(self.end, END) | kind;
        Prefix::new(&[indicator.octet(), header])
    }
}

/// Part of a NAL unit in one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// Header of the NAL unit.
    pub header: NalHeader,
    /// Fragment header, unless the packet carries the whole unit.
    pub fragment: Option<FragmentHeader>,
    /// The whole unit, or some of its octets without the header.
    pub data: &'a [u8],
}

impl Part<'_> {
    /// Appends the RTP payload.
    pub fn write(&self, out: &mut Vec<u8>) {
        if let Some(fragment) = self.fragment {
            fragment.write(out);
        }
        out.extend_from_slice(self.data);
    }
}

/// Iterates over the NAL units of a byte stream (ITU-T H.264 Annex B), without start
/// codes and the zeros around them. Skips octets before the first start code and empty
/// units.
pub fn nal_units(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = after_start_code(stream);
    std::iter::from_fn(move || {
        loop {
            let begin = rest?;
            let len = begin.windows(3).position(|w| w == [0, 0, 1]);
            let unit = &begin[..len.unwrap_or(begin.len())];
            rest = after_start_code(&begin[unit.len()..]);
            let end = unit.iter().rposition(|octet| *octet != 0);
            if let Some(end) = end {
                return Some(&unit[..=end]);
            }
        }
    })
}

fn after_start_code(stream: &[u8]) -> Option<&[u8]> {
    let at = stream.windows(3).position(|w| w == [0, 0, 1])?;
    Some(&stream[at + 3..])
}

/// Splits a NAL unit into payloads of about equal size and at most
/// `max_payload`: the unit itself if it fits, otherwise fragments. Empty if the
/// unit is empty or damaged.
pub fn parts(unit: &[u8], max_payload: usize) -> impl Iterator<Item = Part<'_>> {
    let header = unit.first().and_then(|octet| NalHeader::parse(*octet).ok());
    let whole = unit.len() <= max_payload;
    let (skip, room) = match whole {
        true => (0, unit.len()),
        false => (1, max_payload.saturating_sub(FRAGMENT_HEADER).max(1)),
    };
    let data = &unit[skip.min(unit.len())..];
    let count = data.len().div_ceil(room.max(1)).max(1);
    // A fragmented unit has at least two fragments.
    let count = if whole { 1 } else { count.max(2) };
    let chunks = data.chunks(data.len().div_ceil(count).max(1));
    let last = chunks.len().saturating_sub(1);
    let part = move |(index, data), header| Part {
        header,
        fragment: (!whole).then_some(FragmentHeader {
            header,
            start: index == 0,
            end: index == last,
        }),
        data,
    };
    chunks
        .enumerate()
        .filter_map(move |chunk| header.map(|header| part(chunk, header)))
}
