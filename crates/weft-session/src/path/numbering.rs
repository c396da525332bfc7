use weft_units::Ssrc;

use super::Path;

/// Next packet numbers on a path.
///
/// A new path continues the numbers of the earlier path with the same id. The peer then
/// mistakes none of its packets for an old one, and late feedback for the old path names
/// none of the new packets.
#[derive(Debug, Default)]
pub(crate) struct Numbering {
    /// Path number of the next packet.
    pub(super) packet: u64,
    /// Per-path sequence number of the next packet of each SSRC.
    streams: Vec<(Ssrc, u16)>,
}

impl Numbering {
    /// Returns the per-path number of the next packet of this SSRC, and advances it.
    pub(super) fn next_of_stream(&mut self, ssrc: Ssrc) -> u16 {
        if let Some((_, next)) = self.streams.iter_mut().find(|(s, _)| *s == ssrc) {
            let sequence = *next;
            *next = next.wrapping_add(1);
            return sequence;
        }
        self.streams.push((ssrc, 1));
        0
    }

    /// Forgets the SSRCs of a stream that has ended.
    pub(super) fn remove_stream(&mut self, ssrcs: &[Ssrc]) {
        self.streams.retain(|(ssrc, _)| !ssrcs.contains(ssrc));
    }
}

impl Path {
    /// Returns the numbers with which a later path of this id starts.
    pub(super) fn into_numbering(self) -> Numbering {
        Numbering {
            packet: self.history.next_number(),
            ..self.sending.numbering
        }
    }
}
