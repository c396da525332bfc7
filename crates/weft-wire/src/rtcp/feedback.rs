//! Requests and estimates of a receiver (RFC 4585, RFC 5104, REMB).

use super::{
    APPLICATION_LAYER, FULL_INTRA_REQUEST, NACK, PAYLOAD_FEEDBACK, Packet,
    TRANSPORT_LAYER_FEEDBACK, take_entries, write_packet, write_ssrcs,
};
use crate::ParseError;
use crate::reader::Reader;
use weft_units::{Rate, Ssrc};

/// Generic NACK (RFC 4585 section 6.2.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nack {
    /// SSRC of the requester.
    pub sender: Ssrc,
    /// Requested stream.
    pub media: Ssrc,
    /// Sequence numbers of the lost packets; the wire format is shortest if
    /// they ascend.
    pub lost: Vec<u16>,
}

/// Receiver estimated maximum bitrate (draft-alvestrand-rmcat-remb-03).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remb {
    /// SSRC of the estimator.
    pub sender: Ssrc,
    /// Total of all streams below. The wire keeps 18 significant bits.
    pub rate: Rate,
    /// Streams that share the rate.
    pub ssrcs: Vec<Ssrc>,
}

const REMB_NAME: &[u8; 4] = b"REMB";
const REMB_MANTISSA_BITS: u32 = 18;

/// Number of packets after the first covered by one NACK entry.
const NACK_BITS: u16 = 16;
/// Maximum number of entries of one NACK: 65,535 words minus the two SSRCs.
const MAX_NACK_ENTRIES: usize = 65_533;

/// Parses sender and media source, which start every feedback message (RFC 4585 section
/// 6.1); returns them with the following control information.
pub(super) fn parse_sources<'a>(
    body: &'a [u8],
    what: &'static str,
) -> Result<(Ssrc, Ssrc, Reader<'a>), ParseError> {
    let mut reader = Reader::new(body, what);
    let sender = Ssrc(reader.u32()?);
    let media = Ssrc(reader.u32()?);
    Ok((sender, media, reader))
}

impl Nack {
    pub(super) fn parse(body: &[u8], left: &mut usize) -> Result<Nack, ParseError> {
        let (sender, media, mut reader) = parse_sources(body, "NACK")?;
        let mut lost = Vec::new();
        while !reader.is_empty() {
            let first = reader.u16()?;
            let mask = reader.u16()?;
            take_entries(left, 1 + mask.count_ones() as usize, "NACK")?;
            lost.push(first);
            let others = (0..NACK_BITS).filter(|bit| mask >> bit & 1 == 1);
            lost.extend(others.map(|bit| first.wrapping_add(bit + 1)));
        }
        Ok(Nack {
            sender,
            media,
            lost,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_packet(TRANSPORT_LAYER_FEEDBACK, NACK, out, |out| {
            write_ssrcs(&[self.sender, self.media], out);
            let mut rest = self.lost.iter().copied().peekable();
            for _ in 0..MAX_NACK_ENTRIES {
                let Some(first) = rest.next() else { break };
                let mut mask = 0;
                while let Some(sequence) = rest.peek() {
                    let ahead = sequence.wrapping_sub(first);
                    if !(1..=NACK_BITS).contains(&ahead) {
                        break;
                    }
                    mask |= 1 << (ahead - 1);
                    rest.next();
                }
                out.extend_from_slice(&first.to_be_bytes());
                out.extend_from_slice(&u16::to_be_bytes(mask));
            }
        });
    }
}

/// Parses the entries, each of which names its media source; the media source in the
/// header is unused (RFC 5104 section 4.3.1.1).
pub(super) fn parse_full_intra_requests(
    body: &[u8],
    packets: &mut Vec<Packet>,
) -> Result<(), ParseError> {
    let (sender, _, mut reader) = parse_sources(body, "full intra request")?;
    while !reader.is_empty() {
        let media = Ssrc(reader.u32()?);
        let sequence = reader.u8()?;
        reader.u24()?; // reserved
        packets.push(Packet::FullIntraRequest {
            sender,
            media,
            sequence,
        });
    }
    Ok(())
}

pub(super) fn write_full_intra_request(sender: Ssrc, media: Ssrc, sequence: u8, out: &mut Vec<u8>) {
    write_packet(PAYLOAD_FEEDBACK, FULL_INTRA_REQUEST, out, |out| {
        write_ssrcs(&[sender, Ssrc(0), media], out);
        out.extend_from_slice(&[sequence, 0, 0, 0]);
    });
}

impl Remb {
    pub(super) fn is(body: &[u8]) -> bool {
        body.get(8..12) == Some(REMB_NAME)
    }

    pub(super) fn parse(body: &[u8]) -> Result<Remb, ParseError> {
        let (sender, _, mut reader) = parse_sources(body, "REMB")?;
        reader.take(REMB_NAME.len())?;
        let count = reader.u8()?;
        let float = reader.u24()?;
        let exponent = float >> REMB_MANTISSA_BITS;
        let mantissa = float & ((1 << REMB_MANTISSA_BITS) - 1);
        let bps = u128::from(mantissa) << exponent;
        Ok(Remb {
            sender,
            rate: Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX)),
            ssrcs: (0..count)
                .map(|_| reader.u32().map(Ssrc))
                .collect::<Result<_, _>>()?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let bps = self.rate.as_bps();
        let significant = u64::BITS - bps.leading_zeros();
        let exponent = significant.saturating_sub(REMB_MANTISSA_BITS);
        let float = exponent << REMB_MANTISSA_BITS | (bps >> exponent) as u32;
        let ssrcs = &self.ssrcs[..self.ssrcs.len().min(usize::from(u8::MAX))];
        write_packet(PAYLOAD_FEEDBACK, APPLICATION_LAYER, out, |out| {
            write_ssrcs(&[self.sender, Ssrc(0)], out);
            out.extend_from_slice(REMB_NAME);
            out.push(ssrcs.len() as u8);
            out.extend_from_slice(&float.to_be_bytes()[1..]);
            write_ssrcs(ssrcs, out);
        });
    }
}
