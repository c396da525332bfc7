//! Parameter sets and slice headers (ITU-T H.264 section 7.3), as far as needed for the
//! picture size and the quantizer of a slice.

use super::{IDR, NalHeader, PICTURE_PARAMETERS, SEQUENCE_PARAMETERS, SLICE};

/// Maximum number of octets of a NAL unit to parse: parameter sets and slice headers are
/// shorter, except for scaling matrices.
const LOOKED_AT: usize = 256;
/// `profile_idc` of profiles whose parameters contain the chroma format
/// (section 7.3.2.1.1).
const WITH_CHROMA_FORMAT: [u32; 13] =
    [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];

/// Sequence parameter set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SequenceParameters {
    /// Width of the pictures in pixels.
    pub width: u32,
    /// Height of the pictures in pixels.
    pub height: u32,
    /// Macroblocks of 16 by 16 pixels across and down, before cropping: the
    /// size in the decoder's memory.
    pub macroblocks: (u32, u32),
    /// Maximum number of reference pictures in the decoder.
    pub references: u32,
    frame_number_bits: u32,
    /// Bits of the picture order count, if slices have it.
    order_bits: Option<u32>,
    frames_only: bool,
}

/// Picture parameter set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PictureParameters {
    cabac: bool,
    order_of_fields: bool,
    weighted: bool,
    redundant: bool,
    quantizer: i32,
}

/// Present parameter sets, which give the quantizers of slices.
#[derive(Clone, Copy, Default, Debug)]
pub struct Quantizers {
    sequence: Option<SequenceParameters>,
    picture: Option<PictureParameters>,
}

impl SequenceParameters {
    /// Parses a NAL unit with its header; `None` if it is not a sequence parameter set,
    /// or has scaling matrices, picture order of type 1, or a sampling other than 4:2:0.
    #[must_use]
    pub fn parse(unit: &[u8]) -> Option<SequenceParameters> {
        let mut bits = Bits::of(unit, SEQUENCE_PARAMETERS..=SEQUENCE_PARAMETERS)?;
        let profile = bits.take(8)?;
        bits.take(16)?; // constraints, level
        bits.unsigned()?; // id
        if WITH_CHROMA_FORMAT.contains(&profile) {
            let is_420 = bits.unsigned()? == 1;
            let depths = [bits.unsigned()?, bits.unsigned()?];
            bits.take(1)?; // lossless mode
            if !is_420 || depths != [0, 0] || bits.flag()? {
                return None;
            }
        }
        let frame_number_bits = bits.unsigned()? + 4;
        let order_bits = match bits.unsigned()? {
            0 => Some(bits.unsigned()? + 4),
            2 => None,
            _ => return None,
        };
        let references = bits.unsigned()?;
        bits.take(1)?; // gaps in frame numbers
        let (across, down) = (bits.unsigned()? + 1, bits.unsigned()? + 1);
        let frames_only = bits.flag()?;
        let fields = if frames_only { 1 } else { 2 };
        if !frames_only {
            bits.take(1)?; // macroblocks of fields
        }
        bits.take(1)?; // direct prediction
        let mut cut = [0; 4];
        if bits.flag()? {
            for side in &mut cut {
                *side = bits.unsigned()?;
            }
        }
        let [left, right, top, bottom] = cut.map(u64::from);
        let side = |blocks: u32, cut: u64| {
            let whole = u64::from(blocks) * 16;
            u32::try_from(whole.checked_sub(2 * cut)?).ok()
        };
        let rows = down.checked_mul(fields)?;
        Some(SequenceParameters {
            macroblocks: (across, rows),
            references,
            width: side(across, left + right)?,
            height: side(rows, (top + bottom) * u64::from(fields))?,
            frame_number_bits,
            order_bits,
            frames_only,
        })
    }
}

impl PictureParameters {
    /// Parses a NAL unit with its header; `None` if it is not a picture
    /// parameter set, or has slice groups.
    #[must_use]
    pub fn parse(unit: &[u8]) -> Option<PictureParameters> {
        let mut bits = Bits::of(unit, PICTURE_PARAMETERS..=PICTURE_PARAMETERS)?;
        bits.unsigned()?; // id
        bits.unsigned()?; // id of the sequence parameter set
        let cabac = bits.flag()?;
        let order_of_fields = bits.flag()?;
        if bits.unsigned()? != 0 {
            return None;
        }
        bits.unsigned()?; // references of list 0
        bits.unsigned()?; // of list 1
        let weighted = bits.flag()?;
        bits.take(2)?; // weighted prediction of B slices
        let quantizer = 26 + bits.signed()?;
        bits.signed()?; // quantizer of SP slices
        bits.signed()?; // of chroma
        bits.take(2)?; // deblocking, constrained intra prediction
        Some(PictureParameters {
            cabac,
            order_of_fields,
            weighted,
            redundant: bits.flag()?,
            quantizer,
        })
    }
}

impl Quantizers {
    /// Handles the next NAL unit of a stream. Returns the quantizer of a slice,
    /// 0 (finest) to 51; `None` for other units, and for features beyond the
    /// constrained baseline profile.
    pub fn on_unit(&mut self, unit: &[u8]) -> Option<u8> {
        let header = NalHeader::parse(*unit.first()?).ok()?;
        match header.kind {
            SEQUENCE_PARAMETERS => self.sequence = SequenceParameters::parse(unit),
            PICTURE_PARAMETERS => self.picture = PictureParameters::parse(unit),
            SLICE | IDR => {
                let (sequence, picture) = (self.sequence?, self.picture?);
                return slice_quantizer(header, unit, &sequence, &picture);
            }
            _ => {}
        }
        None
    }
}

/// `slice_qp_delta` of a slice header (section 7.3.3), added to the picture
/// parameters' quantizer.
fn slice_quantizer(
    header: NalHeader,
    unit: &[u8],
    sequence: &SequenceParameters,
    picture: &PictureParameters,
) -> Option<u8> {
    const P: u32 = 0;
    const I: u32 = 2;
    let mut bits = Bits::of(unit, SLICE..=IDR)?;
    bits.unsigned()?; // first macroblock
    let kind = bits.unsigned()? % 5;
    if ![P, I].contains(&kind) || !sequence.frames_only {
        return None;
    }
    bits.unsigned()?; // picture parameter set
    bits.take(sequence.frame_number_bits)?;
    if header.kind == IDR {
        bits.unsigned()?; // IDR picture
    }
    if let Some(order_bits) = sequence.order_bits {
        bits.take(order_bits)?;
        if picture.order_of_fields {
            bits.signed()?;
        }
    }
    if picture.redundant {
        bits.unsigned()?;
    }
    if kind == P {
        if bits.flag()? {
            bits.unsigned()?; // references of list 0
        }
        // Modified order of the references: pairs until a 3.
        if bits.flag()? {
            while bits.unsigned()? != 3 {
                bits.unsigned()?;
            }
        }
        if picture.weighted {
            return None;
        }
    }
    if header.reference > 0 {
        bits.skip_reference_marking(header.kind == IDR)?;
    }
    if picture.cabac && kind == P {
        bits.unsigned()?;
    }
    let quantizer = picture.quantizer + bits.signed()?;
    u8::try_from(quantizer).ok().filter(|q| *q <= 51)
}

/// Bits of a NAL unit after its header.
struct Bits {
    octets: Vec<u8>,
    at: usize,
}

impl Bits {
    /// Returns the bits of a unit with one of these types, without the emulation
    /// prevention octets (section 7.4.1).
    fn of(unit: &[u8], kinds: std::ops::RangeInclusive<u8>) -> Option<Bits> {
        let (&first, body) = unit.split_first()?;
        if !kinds.contains(&NalHeader::parse(first).ok()?.kind) {
            return None;
        }
        let body = &body[..body.len().min(LOOKED_AT)];
        let mut octets = Vec::with_capacity(body.len());
        let mut zeros = 0;
        for &octet in body {
            let escapes = octet == 3 && zeros >= 2;
            if !escapes {
                octets.push(octet);
            }
            zeros = if octet == 0 { zeros + 1 } else { 0 };
        }
        Some(Bits { octets, at: 0 })
    }

    fn take(&mut self, count: u32) -> Option<u32> {
        let mut value = 0_u32;
        for _ in 0..count {
            let octet = self.octets.get(self.at / 8)?;
            let bit = octet >> (7 - self.at % 8) & 1;
            value = value << 1 | u32::from(bit);
            self.at += 1;
        }
        Some(value)
    }

    fn flag(&mut self) -> Option<bool> {
        self.take(1).map(|bit| bit == 1)
    }

    /// `ue(v)` (section 9.1): as many bits after the first one as there were
    /// zeros before it.
    fn unsigned(&mut self) -> Option<u32> {
        /// Valid streams have no longer codes in headers.
        const MOST: u32 = 24;
        let mut zeros = 0;
        while !self.flag()? {
            zeros += 1;
            if zeros > MOST {
                return None;
            }
        }
        Some((1 << zeros) - 1 + self.take(zeros)?)
    }

    /// `se(v)` (section 9.1.1): 0, 1, -1, 2, -2 …
    fn signed(&mut self) -> Option<i32> {
        let code = self.unsigned()?.cast_signed();
        Some(if code % 2 == 1 {
            code / 2 + 1
        } else {
            -(code / 2)
        })
    }

    /// `dec_ref_pic_marking` (section 7.3.3.3).
    fn skip_reference_marking(&mut self, idr: bool) -> Option<()> {
        if idr {
            return self.take(2).map(|_| ());
        }
        if self.flag()? {
            loop {
                let values = match self.unsigned()? {
                    0 => return Some(()),
                    3 => 2,
                    5 => 0,
                    _ => 1,
                };
                for _ in 0..values {
                    self.unsigned()?;
                }
            }
        }
        Some(())
    }
}
