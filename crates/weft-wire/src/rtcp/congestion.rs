//! Congestion control feedback (RFC 8888): arrival times and ECN marks by
//! each stream's own sequence numbers.

use super::{
    CONGESTION_CONTROL, TRANSPORT_LAYER_FEEDBACK, take_entries, write_packet, write_ssrcs,
};
use crate::ParseError;
use crate::reader::Reader;
use weft_units::{Duration, Ssrc};

/// RFC 8888 section 3.1.
const MAX_REPORTS: usize = 16_384;
/// Octets before the streams: the header, the reporter and the timestamp.
const OVERHEAD: usize = 12;
/// Octets of a stream in addition to its packets.
const STREAM_OVERHEAD: usize = 8;
/// Words of a packet after its header: a length of 16 bits.
const MAX_WORDS: usize = 65_535;

const RECEIVED_BIT: u16 = 0x8000;
const OFFSET_MASK: u16 = 0x1fff;
/// Unit of the offset: 1/1024 s.
const OFFSETS_PER_SECOND: u64 = 1024;
/// The packet arrived too long ago to be expressed.
const OFFSET_TOO_LONG: u16 = 0x1ffe;
/// The time is unknown, or later than the report.
const OFFSET_UNAVAILABLE: u16 = 0x1fff;

/// Report on the packets of some streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionFeedback {
    /// SSRC of the reporter.
    pub sender: Ssrc,
    /// Time of the report: the middle 32 bits of an NTP time, as in sender
    /// reports.
    pub report_timestamp: u32,
    /// One block per stream.
    pub streams: Vec<StreamArrivals>,
}

/// Packets of one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamArrivals {
    /// SSRC of the received stream.
    pub ssrc: Ssrc,
    /// Sequence number of the first entry of `packets`.
    pub begin_sequence: u16,
    /// Arrival of each packet; `None` if not received. At most 16,384.
    pub packets: Vec<Option<PacketArrival>>,
}

/// Received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketArrival {
    /// The two ECN bits of the IP header (RFC 3168 section 5).
    pub ecn: u8,
    /// Arrival offset in 13 bits, as on the wire; see
    /// [`PacketArrival::before_report`].
    pub offset: u16,
}

impl PacketArrival {
    /// Returns the time from the packet's arrival to the report's timestamp, in steps of
    /// 1/1024 s; `None` if unknown or too long ago.
    #[must_use]
    pub fn before_report(self) -> Option<Duration> {
        if self.offset >= OFFSET_TOO_LONG {
            return None;
        }
        let nanos = u64::from(self.offset) * 1_000_000_000 / OFFSETS_PER_SECOND;
        Some(Duration::from_nanos(nanos))
    }

    /// Creates a packet that arrived this long before the report; `None` if unknown.
    #[must_use]
    pub fn new(ecn: u8, before_report: Option<Duration>) -> PacketArrival {
        let offset = before_report.map_or(OFFSET_UNAVAILABLE, |duration| {
            let steps = u128::from(duration.as_nanos()) * u128::from(OFFSETS_PER_SECOND);
            let steps = (steps / 1_000_000_000).min(u128::from(OFFSET_TOO_LONG));
            steps as u16
        });
        PacketArrival {
            ecn: ecn & 3,
            offset,
        }
    }

    fn from_bits(bits: u16) -> Option<PacketArrival> {
        (bits & RECEIVED_BIT != 0).then_some(PacketArrival {
            ecn: (bits >> 13 & 3) as u8,
            offset: bits & OFFSET_MASK,
        })
    }

    fn bits(self) -> u16 {
        RECEIVED_BIT | u16::from(self.ecn & 3) << 13 | self.offset & OFFSET_MASK
    }
}

impl CongestionFeedback {
    /// Packs streams into messages of at most `max_len` octets, in order; long
    /// streams are divided. A `max_len` too small for two packets of one stream
    /// (less than 24) is exceeded.
    #[must_use]
    pub fn pack(
        sender: Ssrc,
        report_timestamp: u32,
        streams: Vec<StreamArrivals>,
        max_len: usize,
    ) -> Vec<CongestionFeedback> {
        let room = max_len.saturating_sub(OVERHEAD);
        // Whole words, two packets each.
        let longest = (room.saturating_sub(STREAM_OVERHEAD) / 4 * 2).clamp(2, MAX_REPORTS);
        let mut messages: Vec<CongestionFeedback> = Vec::new();
        let mut left = 0;
        for stream in streams.into_iter().flat_map(|s| s.divided(longest)) {
            let len = 4 * stream.words();
            match messages.last_mut().filter(|_| len <= left) {
                Some(message) => message.streams.push(stream),
                None => {
                    left = room.max(len);
                    messages.push(CongestionFeedback {
                        sender,
                        report_timestamp,
                        streams: vec![stream],
                    });
                }
            }
            left -= len;
        }
        messages
    }

    pub(super) fn parse(body: &[u8], left: &mut usize) -> Result<CongestionFeedback, ParseError> {
        let what = "congestion feedback";
        let timestamp_at = body.len().checked_sub(4);
        let (blocks, timestamp) = timestamp_at
            .and_then(|at| body.split_at_checked(at))
            .ok_or(ParseError::Truncated { what })?;
        let mut reader = Reader::new(blocks, what);
        let sender = Ssrc(reader.u32()?);
        let mut streams = Vec::new();
        while !reader.is_empty() {
            streams.push(StreamArrivals::parse(&mut reader, left)?);
        }
        Ok(CongestionFeedback {
            sender,
            report_timestamp: Reader::new(timestamp, what).u32()?,
            streams,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_packet(TRANSPORT_LAYER_FEEDBACK, CONGESTION_CONTROL, out, |out| {
            write_ssrcs(&[self.sender], out);
            let mut words_left = MAX_WORDS - 2;
            for stream in &self.streams {
                let Some(left) = words_left.checked_sub(stream.words()) else {
                    break;
                };
                words_left = left;
                stream.write(out);
            }
            out.extend_from_slice(&self.report_timestamp.to_be_bytes());
        });
    }
}

impl StreamArrivals {
    /// Splits it into parts of at most this many packets.
    fn divided(self, longest: usize) -> Vec<StreamArrivals> {
        if self.packets.len() <= longest {
            return vec![self];
        }
        let parts = self.packets.chunks(longest).enumerate();
        let parts = parts.map(|(index, packets)| StreamArrivals {
            ssrc: self.ssrc,
            begin_sequence: self.begin_sequence.wrapping_add((index * longest) as u16),
            packets: packets.to_vec(),
        });
        parts.collect()
    }

    fn parse(reader: &mut Reader<'_>, left: &mut usize) -> Result<StreamArrivals, ParseError> {
        let ssrc = Ssrc(reader.u32()?);
        let begin_sequence = reader.u16()?;
        let count = usize::from(reader.u16()?);
        if count > MAX_REPORTS {
            return Err(ParseError::TooLarge {
                what: "arrival list",
            });
        }
        take_entries(left, count, "arrival list")?;
        // Pairs of reports fill words.
        let mut reports = Reader::new(reader.take(count.div_ceil(2) * 4)?, "arrival list");
        let packets = (0..count)
            .map(|_| reports.u16().map(PacketArrival::from_bits))
            .collect::<Result<_, _>>()?;
        Ok(StreamArrivals {
            ssrc,
            begin_sequence,
            packets,
        })
    }

    fn reports(&self) -> &[Option<PacketArrival>] {
        &self.packets[..self.packets.len().min(MAX_REPORTS)]
    }

    fn words(&self) -> usize {
        2 + self.reports().len().div_ceil(2)
    }

    fn write(&self, out: &mut Vec<u8>) {
        let reports = self.reports();
        write_ssrcs(&[self.ssrc], out);
        out.extend_from_slice(&self.begin_sequence.to_be_bytes());
        out.extend_from_slice(&(reports.len() as u16).to_be_bytes());
        for packet in reports {
            let bits = packet.map_or(0, PacketArrival::bits);
            out.extend_from_slice(&bits.to_be_bytes());
        }
        if reports.len() % 2 == 1 {
            out.extend_from_slice(&[0, 0]);
        }
    }
}

#[cfg(test)]
mod tests;
