//! Arrival times per packet: transport-wide feedback
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1) and weft's feedback
//! per path, with the same body.

mod body;
mod split;

pub use split::{Allowance, ArrivalBlock, split_arrivals};

use super::{
    APPLICATION, TRANSPORT_LAYER_FEEDBACK, TRANSPORT_WIDE, WEFT_NAME, WEFT_PATH_FEEDBACK, feedback,
    write_packet, write_ssrcs,
};
use crate::ParseError;
use crate::reader::Reader;
use body::Body;
use weft_units::{Ecn, Instant, PathId, Ssrc};

/// Maximum number of entries of a list: half of the sequence space, beyond
/// which a sequence number is ambiguous.
pub const MAX_ENTRIES: usize = 1 << 15;

/// Arrival times by transport-wide sequence number.
///
/// The times are the receiver's, in steps of 250 us, and wrap after twelve
/// days: see [`unwrap_arrival`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportFeedback {
    /// SSRC of the reporter.
    pub sender: Ssrc,
    /// One of the reported streams; has no other meaning.
    pub media: Ssrc,
    /// Report counter, which reveals lost reports.
    pub feedback_count: u8,
    /// Sequence number of the first entry of `arrivals`.
    pub base_sequence: u16,
    /// Arrival time of each packet; `None`: not yet received. Rounded down to the step
    /// when written. Consecutive times may differ by at most 8.19 s, as
    /// [`split_arrivals`] ensures; beyond that the nearest possible time is written.
    pub arrivals: Vec<Option<Instant>>,
}

/// Arrival times by one path's transport sequence number ([`crate::rtp::PathExtension`]).
/// It is an application packet with name `WEFT` and subtype 1; the path id replaces the
/// count of transport feedback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFeedback {
    /// SSRC of the reporter.
    pub sender: Ssrc,
    /// Path of the packets, as named by the extension.
    pub path: PathId,
    /// Sequence number of the first entry of `arrivals`.
    pub base_sequence: u16,
    /// See [`TransportFeedback`].
    pub arrivals: Vec<Option<Instant>>,
    /// ECN field of each received packet of `arrivals`, in the same order; empty if all
    /// were Not-ECT, or the reporter does not report ECN.
    pub marks: Vec<Ecn>,
}

/// Returns the arrival time nearest to an earlier one of the same receiver, across wraps
/// of its 24-bit reference time.
#[must_use]
pub fn unwrap_arrival(previous: Instant, arrival: Instant) -> Instant {
    let wrap = body::REFERENCE_WRAP.as_nanos();
    // A division is expensive, and most calls end before the first wrap.
    let within_cycle = |nanos: u64| if nanos < wrap { nanos } else { nanos % wrap };
    let within = within_cycle(arrival.as_nanos());
    let cycle = previous.as_nanos() - within_cycle(previous.as_nanos());
    let candidate = cycle.saturating_add(within);
    let half = wrap / 2;
    let nanos = if candidate > previous.as_nanos().saturating_add(half) && cycle > 0 {
        candidate - wrap
    } else if candidate.saturating_add(half) < previous.as_nanos() {
        candidate.saturating_add(wrap)
    } else {
        candidate
    };
    Instant::from_nanos(nanos)
}

impl TransportFeedback {
    pub(super) fn parse(body: &[u8], left: &mut usize) -> Result<TransportFeedback, ParseError> {
        let (sender, media, mut reader) = feedback::parse_sources(body, "transport feedback")?;
        let body = Body::parse(&mut reader, left)?;
        Ok(TransportFeedback {
            sender,
            media,
            feedback_count: body.last_octet,
            base_sequence: body.base_sequence,
            arrivals: body.arrivals,
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_packet(TRANSPORT_LAYER_FEEDBACK, TRANSPORT_WIDE, out, |out| {
            write_ssrcs(&[self.sender, self.media], out);
            body::write(self.base_sequence, &self.arrivals, self.feedback_count, out);
        });
    }
}

impl PathFeedback {
    pub(super) fn parse(body: &[u8], left: &mut usize) -> Result<PathFeedback, ParseError> {
        let mut reader = Reader::new(body, "path feedback");
        let sender = Ssrc(reader.u32()?);
        reader.take(WEFT_NAME.len())?;
        let arrivals = Body::parse(&mut reader, left)?;
        let received = arrivals.arrivals.iter().flatten().count();
        let marks = body::parse_marks(&mut reader, body.len(), received)?;
        let body = arrivals;
        Ok(PathFeedback {
            sender,
            path: PathId(body.last_octet),
            base_sequence: body.base_sequence,
            arrivals: body.arrivals,
            marks,
        })
    }

    /// Returns the maximum length of a block ([`split_arrivals`]) whose packet has at
    /// most `max_len` octets including `marks`.
    #[must_use]
    pub const fn room_beside_marks(max_len: usize) -> usize {
        // An arrival takes at least an octet; a chunk of two octets holds the
        // marks of seven. Zeros pad both to whole words.
        const CHUNK: usize = 2;
        const WORDS: usize = 6;
        let shares = body::TWO_BIT_CAPACITY + CHUNK;
        (max_len * body::TWO_BIT_CAPACITY / shares).saturating_sub(WORDS)
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_packet(APPLICATION, WEFT_PATH_FEEDBACK, out, |out| {
            write_ssrcs(&[self.sender], out);
            out.extend_from_slice(WEFT_NAME);
            let start = out.len();
            body::write(self.base_sequence, &self.arrivals, self.path.0, out);
            body::write_marks(&self.marks, start, out);
        });
    }
}

#[cfg(test)]
mod tests;
