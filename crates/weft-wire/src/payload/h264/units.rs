//! From a byte stream to the parts of its NAL units that packets carry.

use super::{FU_A, NalHeader, Prefix};
use crate::ParseError;

// FU header (RFC 6184 section 5.8).
const START: u8 = 0x80;
const END: u8 = 0x40;
const KIND: u8 = 0x1f;
/// Octets in front of a fragment: FU indicator and FU header.
const FRAGMENT_HEADER: usize = 2;

/// What stands in front of a fragment of a NAL unit, in place of the unit's
/// header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FragmentHeader {
    /// Of the NAL unit.
    pub header: NalHeader,
    /// The unit's first fragment.
    pub start: bool,
    /// Its last one.
    pub end: bool,
}

impl FragmentHeader {
    /// The FU header behind an indicator with this `nal_ref_idc`.
    pub(super) fn parse(reference: u8, octet: u8) -> Result<FragmentHeader, ParseError> {
        let kind = octet & KIND;
        let fragment = FragmentHeader {
            header: NalHeader { reference, kind },
            start: octet & START != 0,
            end: octet & END != 0,
        };
        // A fragment of a packing, or of nothing, or one that is the whole unit.
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

    /// The same, in front of a share of a frame.
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

/// What one packet carries of a NAL unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part<'a> {
    /// Of the NAL unit.
    pub header: NalHeader,
    /// In front of `data`, unless the packet carries the whole unit.
    pub fragment: Option<FragmentHeader>,
    /// The whole unit, or octets of it without its header.
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

/// The NAL units of a byte stream (ITU-T H.264 Annex B), without start codes
/// and the zeros around them. What stands before the first start code is
/// left out; nothing is empty.
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

/// Cuts a NAL unit into the payloads of packets, of about equal size and
/// `max_payload` at most: the unit itself if it fits, else fragments. Nothing
/// if the unit is empty or damaged.
pub fn parts(unit: &[u8], max_payload: usize) -> impl Iterator<Item = Part<'_>> {
    let header = unit.first().and_then(|octet| NalHeader::parse(*octet).ok());
    let whole = unit.len() <= max_payload;
    let (skip, room) = match whole {
        true => (0, unit.len()),
        false => (1, max_payload.saturating_sub(FRAGMENT_HEADER).max(1)),
    };
    let data = &unit[skip.min(unit.len())..];
    let count = data.len().div_ceil(room.max(1)).max(1);
    // A whole unit in fragments has two at least.
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
