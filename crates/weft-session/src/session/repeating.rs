//! Retransmission for peers without RTX: the same bytes are sent again.
//!
//! They carry the number of the first transmission, so feedback does not show which of
//! the two arrived, nor on which path. The number is therefore removed from its path's
//! records ([`crate::path::History::on_repeated`]), and the retransmission is not
//! recorded: if it is lost too, the peer requests it once more.

use weft_units::{Bytes, Instant, PathId};

use super::Session;
use crate::event::{Output, Repeat};
use crate::path::Waiting;
use crate::send::{Copies, Receipt, Transmission};

impl Session {
    /// Sends a packet again on this path, byte for byte.
    pub(super) fn repeat(&mut self, now: Instant, id: PathId, waiting: Waiting) {
        let sequence = waiting.sequence;
        let Some(stream) = self.streams.senders.get_mut(&waiting.stream) else {
            return;
        };
        let ssrc = stream.config.ssrc;
        let size = stream.packet_size(sequence);
        let Some(packet) = stream.get_mut(sequence) else {
            return;
        };
        packet.queued_again = false;
        // It may have arrived after all.
        let Some(last) = packet.last.filter(|_| packet.receipt == Receipt::None) else {
            return;
        };
        packet.last = Some(Transmission {
            path: id,
            number: None,
            at: now,
            copies: Copies::None,
        });
        if let (Some(number), Some(path)) = (last.number, self.paths.get_mut(&last.path)) {
            path.history.on_repeated(number);
        }
        if let Some(path) = self.paths.get_mut(&id) {
            path.on_unreported_sent(now, size);
        }
        let copies = self.live_copies(now, &waiting.copies, size);
        self.spend(now, size, 1 + copies.len(), None);
        self.outputs.push_back(Output::Repeat(Repeat {
            ssrc,
            sequence: sequence as u16,
            path: id,
            copies,
        }));
    }

    pub(super) fn live_copies(
        &mut self,
        now: Instant,
        wanted: &[PathId],
        size: Bytes,
    ) -> Vec<PathId> {
        let mut copies = Vec::new();
        for id in wanted {
            if let Some(path) = self.paths.get_mut(id).filter(|p| p.may_carry(now)) {
                path.on_copy_sent(now, size);
                copies.push(*id);
            }
        }
        copies
    }
}
