//! Reports, source descriptions and goodbyes (RFC 3550 section 6).

use super::{
    GOODBYE, MAX_COUNT, RECEIVER_REPORT, SENDER_REPORT, SOURCE_DESCRIPTION, write_packet,
    write_ssrcs,
};
use crate::ParseError;
use crate::reader::Reader;
use weft_units::Ssrc;

/// RFC 3550 section 6.5.
const CNAME_ITEM: u8 = 1;
/// RFC 3550 section 6.5.8: length of a prefix, prefix, value.
const PRIVATE_ITEM: u8 = 8;
/// Prefix of the private item with the frame rate.
const FRAME_RATE_PREFIX: &[u8] = b"weft-frame-rate";
const END_OF_ITEMS: u8 = 0;
/// Maximum length of an item of a source description, whose length field is one octet.
const MAX_ITEM_LEN: usize = 255;

/// RFC 3550 section 6.4.1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenderReport {
    /// SSRC of the sent stream.
    pub ssrc: Ssrc,
    /// Time of this report, NTP format: seconds since 1900 in 32.32 bits.
    pub ntp: u64,
    /// Time of this report in units of the stream's clock.
    pub rtp_timestamp: u32,
    /// Packets sent since the start, modulo 2^32.
    pub packet_count: u32,
    /// Payload octets sent since the start, modulo 2^32.
    pub octet_count: u32,
    /// Reception statistics of the sender itself.
    pub reports: Vec<ReportBlock>,
}

/// RFC 3550 section 6.4.2.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceiverReport {
    /// SSRC of the reporter.
    pub ssrc: Ssrc,
    /// One block per source.
    pub reports: Vec<ReportBlock>,
}

/// Reception statistics of one source (RFC 3550 section 6.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportBlock {
    /// Reported source.
    pub ssrc: Ssrc,
    /// Share of packets lost since the previous report, in 1/256.
    pub fraction_lost: u8,
    /// Packets lost since the start, 24 bits; negative if duplicates prevail.
    pub cumulative_lost: i32,
    /// Cycles in the high half, sequence number in the low one.
    pub highest_sequence: u32,
    /// Interarrival jitter in units of the stream's clock.
    pub jitter: u32,
    /// The middle 32 bits of the last sender report's NTP time, or zero.
    pub last_sender_report: u32,
    /// Time since that report's arrival, in 1/65536 s.
    pub delay_since_last: u32,
}

/// Canonical name of a source (RFC 3550 section 6.5.1) and its frame rate. Skips other
/// items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceDescription {
    /// SSRC of the described source.
    pub ssrc: Ssrc,
    /// At most 255 octets; empty if the source has no name.
    pub cname: String,
    /// Frames per 1000 s, if the source reports them (Converge, section 4.2). Not
    /// validated: zero is possible.
    pub frame_rate: Option<u32>,
}

impl ReportBlock {
    /// Range of a signed number of 24 bits.
    const LOST_RANGE: (i32, i32) = (-0x80_0000, 0x7f_ffff);

    fn parse(reader: &mut Reader<'_>) -> Result<ReportBlock, ParseError> {
        let ssrc = Ssrc(reader.u32()?);
        let lost = reader.u32()?;
        Ok(ReportBlock {
            ssrc,
            fraction_lost: (lost >> 24) as u8,
            cumulative_lost: (lost << 8).cast_signed() >> 8,
            highest_sequence: reader.u32()?,
            jitter: reader.u32()?,
            last_sender_report: reader.u32()?,
            delay_since_last: reader.u32()?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        let (low, high) = ReportBlock::LOST_RANGE;
        let lost = self.cumulative_lost.clamp(low, high).cast_unsigned();
        let words = [
            self.ssrc.0,
            u32::from(self.fraction_lost) << 24 | lost & 0xff_ffff,
            self.highest_sequence,
            self.jitter,
            self.last_sender_report,
            self.delay_since_last,
        ];
        for word in words {
            out.extend_from_slice(&word.to_be_bytes());
        }
    }
}

fn parse_blocks(count: u8, reader: &mut Reader<'_>) -> Result<Vec<ReportBlock>, ParseError> {
    (0..count).map(|_| ReportBlock::parse(reader)).collect()
}

fn write_blocks(reports: &[ReportBlock], out: &mut Vec<u8>) {
    for report in reports {
        report.write(out);
    }
}

/// Returns the start of the list, as long as the 5-bit count allows.
fn countable<T>(list: &[T]) -> (u8, &[T]) {
    let list = &list[..list.len().min(MAX_COUNT)];
    (list.len() as u8, list)
}

impl SenderReport {
    pub(super) fn parse(count: u8, body: &[u8]) -> Result<SenderReport, ParseError> {
        let mut reader = Reader::new(body, "sender report");
        Ok(SenderReport {
            ssrc: Ssrc(reader.u32()?),
            ntp: reader.u64()?,
            rtp_timestamp: reader.u32()?,
            packet_count: reader.u32()?,
            octet_count: reader.u32()?,
            reports: parse_blocks(count, &mut reader)?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (count, reports) = countable(&self.reports);
        write_packet(SENDER_REPORT, count, out, |out| {
            out.extend_from_slice(&self.ssrc.0.to_be_bytes());
            out.extend_from_slice(&self.ntp.to_be_bytes());
            for word in [self.rtp_timestamp, self.packet_count, self.octet_count] {
                out.extend_from_slice(&word.to_be_bytes());
            }
            write_blocks(reports, out);
        });
    }
}

impl ReceiverReport {
    pub(super) fn parse(count: u8, body: &[u8]) -> Result<ReceiverReport, ParseError> {
        let mut reader = Reader::new(body, "receiver report");
        Ok(ReceiverReport {
            ssrc: Ssrc(reader.u32()?),
            reports: parse_blocks(count, &mut reader)?,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let (count, reports) = countable(&self.reports);
        write_packet(RECEIVER_REPORT, count, out, |out| {
            write_ssrcs(&[self.ssrc], out);
            write_blocks(reports, out);
        });
    }
}

pub(super) fn parse_descriptions(
    count: u8,
    body: &[u8],
) -> Result<Vec<SourceDescription>, ParseError> {
    let mut reader = Reader::new(body, "source description");
    (0..count)
        .map(|_| parse_description(body, &mut reader))
        .collect()
}

fn parse_description(
    body: &[u8],
    reader: &mut Reader<'_>,
) -> Result<SourceDescription, ParseError> {
    let ssrc = Ssrc(reader.u32()?);
    let mut cname = String::new();
    let mut frame_rate = None;
    loop {
        let item = reader.u8()?;
        if item == END_OF_ITEMS {
            break;
        }
        let len = usize::from(reader.u8()?);
        let text = reader.take(len)?;
        if item == CNAME_ITEM {
            cname = String::from_utf8_lossy(text).into_owned();
        } else if item == PRIVATE_ITEM {
            frame_rate = parse_frame_rate(text).or(frame_rate);
        }
    }
    // The next chunk starts at a whole word.
    let consumed = body.len() - reader.rest().len();
    reader.take(consumed.next_multiple_of(4) - consumed)?;
    Ok(SourceDescription {
        ssrc,
        cname,
        frame_rate,
    })
}

/// Parses frames per 1000 s from a private item such as `29.97` with our prefix.
fn parse_frame_rate(item: &[u8]) -> Option<u32> {
    let (prefix_len, item) = item.split_first()?;
    let (prefix, value) = item.split_at_checked(usize::from(*prefix_len))?;
    if prefix != FRAME_RATE_PREFIX {
        return None;
    }
    let value = std::str::from_utf8(value).ok()?;
    let (whole, fraction) = value.split_once('.').unwrap_or((value, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 3 {
        return None;
    }
    let fraction = format!("{fraction:0<3}").parse::<u32>().ok()?;
    whole
        .parse::<u32>()
        .ok()?
        .checked_mul(1000)?
        .checked_add(fraction)
}

fn write_frame_rate(rate: u32, out: &mut Vec<u8>) {
    let value = match rate % 1000 {
        0 => format!("{}", rate / 1000),
        thousandths => format!("{}.{thousandths:03}", rate / 1000),
    };
    let len = 1 + FRAME_RATE_PREFIX.len() + value.len();
    out.extend_from_slice(&[PRIVATE_ITEM, len as u8, FRAME_RATE_PREFIX.len() as u8]);
    out.extend_from_slice(FRAME_RATE_PREFIX);
    out.extend_from_slice(value.as_bytes());
}

pub(super) fn write_descriptions(list: &[SourceDescription], out: &mut Vec<u8>) {
    let (count, list) = countable(list);
    write_packet(SOURCE_DESCRIPTION, count, out, |out| {
        let body = out.len();
        for description in list {
            let cname = cut(&description.cname, MAX_ITEM_LEN);
            write_ssrcs(&[description.ssrc], out);
            out.extend_from_slice(&[CNAME_ITEM, cname.len() as u8]);
            out.extend_from_slice(cname.as_bytes());
            if let Some(rate) = description.frame_rate {
                write_frame_rate(rate, out);
            }
            out.push(END_OF_ITEMS);
            let len = (out.len() - body).next_multiple_of(4);
            out.resize(body + len, 0);
        }
    });
}

/// Returns the longest prefix of `text` with at most `len` octets.
fn cut(text: &str, len: usize) -> &str {
    let mut end = text.len().min(len);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

pub(super) fn parse_goodbye(count: u8, body: &[u8]) -> Result<Vec<Ssrc>, ParseError> {
    let mut reader = Reader::new(body, "goodbye");
    (0..count).map(|_| reader.u32().map(Ssrc)).collect()
}

pub(super) fn write_goodbye(list: &[Ssrc], out: &mut Vec<u8>) {
    let (count, list) = countable(list);
    write_packet(GOODBYE, count, out, |out| write_ssrcs(list, out));
}
