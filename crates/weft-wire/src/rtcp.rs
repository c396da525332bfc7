//! RTCP: reports (RFC 3550 section 6), feedback (RFC 4585, RFC 5104,
//! draft-holmer-rmcat-transport-wide-cc-extensions-01, RFC 8888) and weft's
//! own feedback by path. Reduced-size packets (RFC 5506) are read like compounds.

mod arrivals;
mod congestion;
mod feedback;
mod quality;
mod report;

pub use arrivals::{
    Allowance, ArrivalBlock, MAX_ENTRIES, PathFeedback, TransportFeedback, split_arrivals,
    unwrap_arrival,
};
pub use congestion::{CongestionFeedback, PacketArrival, StreamArrivals};
pub use feedback::{Nack, Remb};
pub use quality::QualityFeedback;
pub use report::{ReceiverReport, ReportBlock, SenderReport, SourceDescription};

use crate::ParseError;
use crate::reader::Reader;
use weft_units::Ssrc;

const VERSION: u8 = 2;
const PADDING_BIT: u8 = 0x20;
const COUNT_MASK: u8 = 0x1f;
/// Maximum of the 5-bit count of items in a packet.
const MAX_COUNT: usize = 31;

// Packet types: RFC 3550 section 12.1, RFC 4585 section 6.1.
const SENDER_REPORT: u8 = 200;
const RECEIVER_REPORT: u8 = 201;
const SOURCE_DESCRIPTION: u8 = 202;
const GOODBYE: u8 = 203;
const APPLICATION: u8 = 204;
const TRANSPORT_LAYER_FEEDBACK: u8 = 205;
const PAYLOAD_FEEDBACK: u8 = 206;

// Feedback message types of transport layer feedback.
const NACK: u8 = 1; // RFC 4585 section 6.2.1
const CONGESTION_CONTROL: u8 = 11; // RFC 8888 section 3.1
const TRANSPORT_WIDE: u8 = 15; // draft-holmer section 3.1
// Feedback message types of payload-specific feedback.
const PICTURE_LOSS: u8 = 1; // RFC 4585 section 6.3.1
const FULL_INTRA_REQUEST: u8 = 4; // RFC 5104 section 4.3.1
const APPLICATION_LAYER: u8 = 15; // RFC 4585 section 6.4, used by REMB

// Application packets (RFC 3550 section 6.7) of weft.
const WEFT_NAME: &[u8; 4] = b"WEFT";
const WEFT_PATH_FEEDBACK: u8 = 1;
const WEFT_QUALITY_FEEDBACK: u8 = 2;

/// Message of an RTCP packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    /// Sending and reception statistics of a sender.
    SenderReport(SenderReport),
    /// Reception statistics of a receiver.
    ReceiverReport(ReceiverReport),
    /// Canonical name of each source.
    SourceDescription(Vec<SourceDescription>),
    /// End of these sources.
    Goodbye(Vec<Ssrc>),
    /// Packets to retransmit.
    Nack(Nack),
    /// Picture loss: requests a keyframe.
    PictureLoss {
        /// SSRC of the requester.
        sender: Ssrc,
        /// Requested stream.
        media: Ssrc,
    },
    /// Request for a keyframe. A packet that requests several streams is read as one
    /// message for each.
    FullIntraRequest {
        /// SSRC of the requester.
        sender: Ssrc,
        /// Requested stream.
        media: Ssrc,
        /// Request number; a repeated request has the same number.
        sequence: u8,
    },
    /// Receiver's estimate of the path's capacity.
    Remb(Remb),
    /// Arrival times by transport-wide sequence number.
    TransportFeedback(TransportFeedback),
    /// Arrival times by the streams' sequence numbers.
    CongestionFeedback(CongestionFeedback),
    /// Arrival times by one path's transport sequence number.
    PathFeedback(PathFeedback),
    /// Effect of a path on the construction of frames.
    QualityFeedback(QualityFeedback),
    /// Another packet type or feedback message type. Its content is discarded, so it is
    /// never written.
    Unknown {
        /// Registered packet type (RFC 3550 section 12.1).
        packet_type: u8,
        /// The 5-bit count, subtype or feedback message type.
        count: u8,
    },
}

/// Takes the entries of a list from the remaining allowance.
fn take_entries(left: &mut usize, count: usize, what: &'static str) -> Result<(), ParseError> {
    *left = left
        .checked_sub(count)
        .ok_or(ParseError::TooLarge { what })?;
    Ok(())
}

/// Whether a datagram that is RTP or RTCP is RTCP (RFC 5761 section 4).
#[must_use]
pub fn is_rtcp(datagram: &[u8]) -> bool {
    matches!(datagram, [_, 192..=223, ..])
}

/// Parses all messages of a plain (decrypted) RTCP packet.
///
/// An error in one message fails the whole packet, because the rest cannot be trusted.
/// The lists of arrivals, losses and retransmission requests together may have at most
/// `left` entries, because a few bytes can encode thousands; `left` is reduced by their
/// number. A packet beyond the limit is [`ParseError::TooLarge`], and no memory is
/// allocated for it. More than [`MAX_ENTRIES`] are never useful.
pub fn parse_compound(data: &[u8], left: &mut usize) -> Result<Vec<Packet>, ParseError> {
    let mut packets = Vec::new();
    let mut reader = Reader::new(data, "RTCP header");
    while !reader.is_empty() {
        let first = reader.u8()?;
        if first >> 6 != VERSION {
            return Err(ParseError::Invalid {
                what: "RTCP version",
            });
        }
        let packet_type = reader.u8()?;
        let words = usize::from(reader.u16()?);
        let mut body = reader.take(4 * words)?;
        // RFC 3550 allows padding in the last packet only, but libwebrtc pads
        // transport feedback in any position.
        if first & PADDING_BIT != 0 {
            body = strip_padding(body)?;
        }
        let count = first & COUNT_MASK;
        parse_packet(packet_type, count, body, left, &mut packets)?;
    }
    Ok(packets)
}

fn strip_padding(body: &[u8]) -> Result<&[u8], ParseError> {
    let what = "RTCP padding";
    let padding = usize::from(*body.last().ok_or(ParseError::Truncated { what })?);
    if padding == 0 || padding > body.len() {
        return Err(ParseError::Invalid { what });
    }
    Ok(&body[..body.len() - padding])
}

fn parse_packet(
    packet_type: u8,
    count: u8,
    body: &[u8],
    left: &mut usize,
    packets: &mut Vec<Packet>,
) -> Result<(), ParseError> {
    let packet = match (packet_type, count) {
        (SENDER_REPORT, _) => Packet::SenderReport(SenderReport::parse(count, body)?),
        (RECEIVER_REPORT, _) => Packet::ReceiverReport(ReceiverReport::parse(count, body)?),
        (SOURCE_DESCRIPTION, _) => {
            Packet::SourceDescription(report::parse_descriptions(count, body)?)
        }
        (GOODBYE, _) => Packet::Goodbye(report::parse_goodbye(count, body)?),
        (APPLICATION, WEFT_PATH_FEEDBACK) if body.get(4..8) == Some(WEFT_NAME) => {
            Packet::PathFeedback(PathFeedback::parse(body, left)?)
        }
        (APPLICATION, WEFT_QUALITY_FEEDBACK) if body.get(4..8) == Some(WEFT_NAME) => {
            Packet::QualityFeedback(QualityFeedback::parse(body)?)
        }
        (TRANSPORT_LAYER_FEEDBACK, NACK) => Packet::Nack(Nack::parse(body, left)?),
        (TRANSPORT_LAYER_FEEDBACK, CONGESTION_CONTROL) => {
            Packet::CongestionFeedback(CongestionFeedback::parse(body, left)?)
        }
        (TRANSPORT_LAYER_FEEDBACK, TRANSPORT_WIDE) => {
            Packet::TransportFeedback(TransportFeedback::parse(body, left)?)
        }
        (PAYLOAD_FEEDBACK, PICTURE_LOSS) => {
            let (sender, media, _) = feedback::parse_sources(body, "picture loss indication")?;
            Packet::PictureLoss { sender, media }
        }
        (PAYLOAD_FEEDBACK, FULL_INTRA_REQUEST) => {
            return feedback::parse_full_intra_requests(body, packets);
        }
        (PAYLOAD_FEEDBACK, APPLICATION_LAYER) if Remb::is(body) => Packet::Remb(Remb::parse(body)?),
        _ => Packet::Unknown { packet_type, count },
    };
    packets.push(packet);
    Ok(())
}

impl Packet {
    /// Appends the message in wire format; several in a row make a compound. Truncates
    /// lists that exceed the capacity of the message: 31 report blocks, descriptions or
    /// goodbyes, 255 sources of a [`Remb`], 65,535 arrivals.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Packet::SenderReport(report) => report.write(out),
            Packet::ReceiverReport(report) => report.write(out),
            Packet::SourceDescription(list) => report::write_descriptions(list, out),
            Packet::Goodbye(list) => report::write_goodbye(list, out),
            Packet::Nack(nack) => nack.write(out),
            Packet::PictureLoss { sender, media } => {
                write_packet(PAYLOAD_FEEDBACK, PICTURE_LOSS, out, |out| {
                    write_ssrcs(&[*sender, *media], out);
                });
            }
            Packet::FullIntraRequest {
                sender,
                media,
                sequence,
            } => feedback::write_full_intra_request(*sender, *media, *sequence, out),
            Packet::Remb(remb) => remb.write(out),
            Packet::TransportFeedback(feedback) => feedback.write(out),
            Packet::CongestionFeedback(feedback) => feedback.write(out),
            Packet::PathFeedback(feedback) => feedback.write(out),
            Packet::QualityFeedback(feedback) => feedback.write(out),
            Packet::Unknown { .. } => {}
        }
    }
}

/// Appends a header, the output of `body` and zeros up to a whole word, and sets the
/// length.
fn write_packet(packet_type: u8, count: u8, out: &mut Vec<u8>, body: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    out.extend_from_slice(&[VERSION << 6 | count, packet_type, 0, 0]);
    let content = out.len();
    body(out);
    let words = (out.len() - content).div_ceil(4);
    out.resize(content + 4 * words, 0);
    // Every writer limits its lists so that this fits.
    let words = u16::try_from(words).expect("an RTCP packet within its 16-bit length");
    out[start + 2..content].copy_from_slice(&words.to_be_bytes());
}

fn write_ssrcs(ssrcs: &[Ssrc], out: &mut Vec<u8>) {
    for ssrc in ssrcs {
        out.extend_from_slice(&ssrc.0.to_be_bytes());
    }
}

#[cfg(test)]
mod tests;
