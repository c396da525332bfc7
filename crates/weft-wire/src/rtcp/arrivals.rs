//! Arrival times per packet: transport-wide feedback
//! (draft-holmer-rmcat-transport-wide-cc-extensions-01 section 3.1) and
//! weft's feedback per path, which has the same body.

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

/// Entries of a list: half of the sequence space, beyond which a sequence
/// number is ambiguous.
pub const MAX_ENTRIES: usize = 1 << 15;

/// Arrival times by transport-wide sequence number.
///
/// The times are the receiver's, in steps of 250 us, and wrap after twelve
/// days: see [`unwrap_arrival`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransportFeedback {
    /// SSRC of the packet sender: of who reports.
    pub sender: Ssrc,
    /// One of the streams reported on; of no further meaning.
    pub media: Ssrc,
    /// Counts these reports, so that a lost one shows.
    pub feedback_count: u8,
    /// The sequence number of the first entry of `arrivals`.
    pub base_sequence: u16,
    /// For each packet when it arrived, or that it has not yet. Written
    /// rounded down to the step; consecutive ones may be at most 8.19 s
    /// apart, which [`split_arrivals`] sees to (beyond that the time written
    /// is the nearest possible).
    pub arrivals: Vec<Option<Instant>>,
}

/// Arrival times by one path's transport sequence number
/// ([`crate::rtp::PathExtension`]). An application packet, name `WEFT`,
/// subtype 1; the path id stands where transport feedback has its count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathFeedback {
    /// SSRC of the packet sender: of who reports.
    pub sender: Ssrc,
    /// The path that the packets took, as the extension named it.
    pub path: PathId,
    /// The sequence number of the first entry of `arrivals`.
    pub base_sequence: u16,
    /// As in [`TransportFeedback`].
    pub arrivals: Vec<Option<Instant>>,
    /// The ECN field that each packet of `arrivals` that has come came with,
    /// in the same order, and for no others; or nothing: all came Not-ECT, or
    /// the reporter does not tell.
    pub marks: Vec<Ecn>,
}

/// The arrival time nearest to an earlier one of the same receiver, across
/// wraps of its 24-bit reference time.
#[must_use]
pub fn unwrap_arrival(previous: Instant, arrival: Instant) -> Instant {
    let wrap = body::REFERENCE_WRAP.as_nanos();
    // A division is dear, and most calls end before the first wrap.
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

    /// How long a block may be ([`split_arrivals`]) so that its packet is at
    /// most `max_len` octets with `marks` beside it.
    #[must_use]
    pub const fn room_beside_marks(max_len: usize) -> usize {
        // An arrival takes an octet at least; a chunk of two tells the marks
        // of seven. Zeros fill both to whole words.
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
