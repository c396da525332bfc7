//! Repair packets of flexible forward error correction (RFC 8627), in the form
//! with flexible masks (section 4.2.2.1), one protected source each.
//!
//! A repair packet is the XOR of the packets in its mask: of their header fields (with
//! the length in place of the sequence number) and of everything after the fixed header.
//! A receiver that has all but one of them can recover the missing one. Values that
//! change with each transmission must count as zero on both sides:
//! [`crate::rtp::clear_transport_values`].

use crate::ParseError;
use crate::reader::Reader;
use weft_units::Ssrc;

/// Name in `a=rtpmap` (RFC 8627 section 5.1).
pub const NAME: &str = "flexfec";
/// Grouping of a source and its repair source in `a=ssrc-group` (RFC 5956 section 4.3).
pub const GROUP: &str = "FEC-FR";
/// Number of packets that a mask covers, starting at its base (RFC 8627 section 4.2.2.1:
/// 15 + 31 + 64 bits).
pub const SPAN: u32 = 110;

/// Length of the fixed RTP header; the rest of the packet is protected unchanged.
const FIXED_LEN: usize = 12;
/// Flags, payload type, length and timestamp recovery.
const RECOVERY_LEN: usize = 8;
/// Retransmission bit and fixed-block bit: other payload formats.
const OTHER_FORMS: u8 = 0xc0;
const VERSION: u8 = 0x80;
/// In front of a mask block: another block follows.
const MORE: u128 = 1;

/// Packets that a repair packet protects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mask {
    /// First sequence number that may be protected.
    pub base: u16,
    /// Bit *i* stands for packet *base + i*; *i* is below [`SPAN`].
    pub bits: u128,
}

impl Mask {
    /// Creates a mask of these distances from the base; omits distances of [`SPAN`] and
    /// beyond.
    pub fn new(base: u16, distances: impl IntoIterator<Item = u32>) -> Mask {
        let named = distances.into_iter().filter(|d| *d < SPAN);
        let bits = named.fold(0, |bits, distance| bits | 1 << distance);
        Mask { base, bits }
    }

    /// Returns the number of octets on the wire, without the base.
    fn blocks_len(self) -> usize {
        match self.bits {
            bits if bits >> 46 != 0 => 14,
            bits if bits >> 15 != 0 => 6,
            _ => 2,
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        // On the wire the first packet is the highest bit of a block.
        let block = |from: u32, len: u32| (self.bits >> from).reverse_bits() >> (128 - len);
        let len = self.blocks_len();
        let more = |follows: bool, bits: u32| (MORE * u128::from(follows)) << bits;
        out.extend_from_slice(&self.base.to_be_bytes());
        let first = more(len > 2, 15) | block(0, 15);
        out.extend_from_slice(&(first as u16).to_be_bytes());
        if len > 2 {
            let second = more(len > 6, 31) | block(15, 31);
            out.extend_from_slice(&(second as u32).to_be_bytes());
        }
        if len > 6 {
            out.extend_from_slice(&(block(46, 64) as u64).to_be_bytes());
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Mask, ParseError> {
        let base = reader.u16()?;
        let place = |block: u128, from: u32, len: u32| {
            let bits = block & ((1 << len) - 1);
            bits.reverse_bits() >> (128 - len) << from
        };
        let follows = |block: u128, len: u32| block >> len != 0;
        let first = u128::from(reader.u16()?);
        let mut bits = place(first, 0, 15);
        if follows(first, 15) {
            let second = u128::from(reader.u32()?);
            bits |= place(second, 15, 31);
            if follows(second, 31) {
                bits |= place(u128::from(reader.u64()?), 46, 64);
            }
        }
        Ok(Mask { base, bits })
    }
}

/// XOR of some packets.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Parity {
    /// Flags, payload type, length and timestamp, in the form of RFC 8627.
    header: [u8; RECOVERY_LEN],
    /// Everything after the fixed header; shorter packets are padded with
    /// zeros.
    body: Vec<u8>,
}

impl Parity {
    /// Adds an RTP packet, or removes it again.
    ///
    /// # Errors
    /// If it is not an RTP packet, or longer than a datagram; the parity is unchanged
    /// then.
    pub fn add(&mut self, packet: &[u8]) -> Result<(), ParseError> {
        self.add_parts(packet, &[])
    }

    /// Adds a packet in two parts: at least its header, and the rest.
    ///
    /// # Errors
    /// Errors of [`Parity::add`].
    pub fn add_parts(&mut self, header: &[u8], rest: &[u8]) -> Result<(), ParseError> {
        let what = "protected packet";
        let (fixed, body) = header
            .split_first_chunk::<FIXED_LEN>()
            .ok_or(ParseError::Truncated { what })?;
        let whole = body.len() + rest.len();
        let len = u16::try_from(whole).map_err(|_| ParseError::TooLarge { what })?;
        let [flags, kind, _, _, t0, t1, t2, t3, ..] = *fixed;
        let [l0, l1] = len.to_be_bytes();
        xor(
            &mut self.header,
            &[flags & !OTHER_FORMS, kind, l0, l1, t0, t1, t2, t3],
        );
        if self.body.len() < whole {
            self.body.resize(whole, 0);
        }
        let (first, second) = self.body.split_at_mut(body.len());
        xor(first, body);
        xor(second, rest);
        Ok(())
    }

    /// Recovers the missing packet after all others were removed.
    ///
    /// # Errors
    /// If its length is impossible: the removed packets were not the protected
    /// ones.
    pub fn recover(&self, ssrc: Ssrc, sequence: u16) -> Result<Vec<u8>, ParseError> {
        let what = "recovered length";
        let [flags, kind, l0, l1, timestamp @ ..] = self.header;
        let len = usize::from(u16::from_be_bytes([l0, l1]));
        let body = self.body.get(..len).ok_or(ParseError::Invalid { what })?;
        let mut packet = Vec::with_capacity(FIXED_LEN + len);
        packet.extend_from_slice(&[VERSION | flags & !OTHER_FORMS, kind]);
        packet.extend_from_slice(&sequence.to_be_bytes());
        packet.extend_from_slice(&timestamp);
        packet.extend_from_slice(&ssrc.0.to_be_bytes());
        packet.extend_from_slice(body);
        Ok(packet)
    }
}

fn xor(into: &mut [u8], from: &[u8]) {
    for (into, from) in into.iter_mut().zip(from) {
        *into ^= from;
    }
}

/// Payload of a repair packet. The contributing sources in its RTP header name the
/// protected source ([`crate::rtp::contributing_sources`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Packets in the XOR.
    pub mask: Mask,
    /// XOR of these packets.
    pub parity: Parity,
}

impl Repair {
    /// Parses the payload of a repair packet.
    ///
    /// # Errors
    /// If it is truncated, has another form (retransmission, fixed block), or
    /// protects nothing.
    pub fn parse(payload: &[u8]) -> Result<Repair, ParseError> {
        let mut reader = Reader::new(payload, "repair packet");
        let mut header = [0; RECOVERY_LEN];
        header.copy_from_slice(reader.take(RECOVERY_LEN)?);
        if header[0] & OTHER_FORMS != 0 {
            let what = "form of the repair packet";
            return Err(ParseError::Invalid { what });
        }
        let mask = Mask::read(&mut reader)?;
        if mask.bits == 0 {
            let what = "mask of the repair packet";
            return Err(ParseError::Invalid { what });
        }
        let body = reader.rest().to_vec();
        let parity = Parity { header, body };
        Ok(Repair { mask, parity })
    }

    /// Appends the payload of a repair packet.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.parity.header);
        self.mask.write(out);
        out.extend_from_slice(&self.parity.body);
    }

    /// Returns the number of octets of the payload.
    #[must_use]
    pub fn len(&self) -> usize {
        RECOVERY_LEN + 2 + self.mask.blocks_len() + self.parity.body.len()
    }

    /// Always false, because a header is always present.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
