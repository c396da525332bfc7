//! Feedback on quality by path (Converge, section 4.2): an application packet
//! (RFC 3550 section 6.7), name `WEFT`, subtype 2.

use super::{APPLICATION, WEFT_NAME, WEFT_QUALITY_FEEDBACK, write_packet, write_ssrcs};
use crate::ParseError;
use crate::reader::Reader;
use weft_units::{Duration, PathId, Ssrc};

/// Effect of a path on a frame that was completed later than its sender's frame rate
/// requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QualityFeedback {
    /// SSRC of the reporter.
    pub sender: Ssrc,
    /// Stream of the frame.
    pub media: Ssrc,
    /// Path, as identified by the extension of its packets.
    pub path: PathId,
    /// Packets that the path delivered before the fast path had delivered its last one,
    /// or, if negative, after it (equation 2). Untrusted.
    pub alpha: i16,
    /// Frame construction delay, from the frame's first packet to its last. Written in
    /// microseconds, at most 2^32 - 1.
    pub construction: Duration,
}

impl QualityFeedback {
    pub(super) fn parse(body: &[u8]) -> Result<QualityFeedback, ParseError> {
        let mut reader = Reader::new(body, "quality feedback");
        let sender = Ssrc(reader.u32()?);
        reader.take(WEFT_NAME.len())?;
        let media = Ssrc(reader.u32()?);
        let path = PathId(reader.u8()?);
        let _reserved = reader.u8()?;
        Ok(QualityFeedback {
            sender,
            media,
            path,
            alpha: reader.u16()?.cast_signed(),
            construction: Duration::from_micros(reader.u32()?.into()),
        })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let micros = u32::try_from(self.construction.as_micros()).unwrap_or(u32::MAX);
        write_packet(APPLICATION, WEFT_QUALITY_FEEDBACK, out, |out| {
            write_ssrcs(&[self.sender], out);
            out.extend_from_slice(WEFT_NAME);
            write_ssrcs(&[self.media], out);
            out.extend_from_slice(&[self.path.0, 0]);
            out.extend_from_slice(&self.alpha.to_be_bytes());
            out.extend_from_slice(&micros.to_be_bytes());
        });
    }
}
