//! Requests from the peer: for packets (RFC 4585 NACK) and for keyframes (PLI, FIR). Our
//! own requests are in `receive`, where frames are assembled.

use weft_units::{Instant, PathId, Ssrc, StreamId};

use super::super::Session;
use crate::path::Path;
use crate::send::{Receipt, Stored};

impl Session {
    /// Answers requests only for packets that are really lost: not for acknowledged
    /// packets, nor for those still in flight on a slower path.
    pub(super) fn on_nack(&mut self, now: Instant, media: Ssrc, lost: &[u16]) {
        let Some((id, stream)) = self.sender_of(media) else {
            self.drops.unknown_stream += 1;
            return;
        };
        let wanted: Vec<u64> = lost.iter().map(|s| stream.extend(*s)).collect();
        for sequence in wanted {
            let path = self.lost_on(now, id, sequence);
            let Some(stream) = self.streams.senders.get_mut(&id) else {
                return;
            };
            stream.counters.nacked += 1;
            match path {
                Some(path) => {
                    if let Some(packet) = stream.get_mut(sequence) {
                        packet.receipt = Receipt::None;
                    }
                    if self.paths.get(&path).is_some() {
                        self.protecting.protection.on_unrepaired(now, path);
                    }
                    self.retransmit(now, id, sequence);
                }
                None => stream.counters.nacks_ignored += 1,
            }
        }
    }

    /// Returns the path on which this packet was really lost.
    fn lost_on(&self, now: Instant, id: StreamId, sequence: u64) -> Option<PathId> {
        let packet = self.streams.senders.get(&id)?.get(sequence);
        let packet = packet.filter(|p| p.receipt != Receipt::Arrived)?;
        let last = packet.last?;
        let Some(path) = self.paths.get(&last.path) else {
            return Some(last.path);
        };
        let age = now.saturating_since(last.at);
        let is_lost = match last.number {
            // A request counts once per round trip.
            _ if !self.repairs_by_path() => {
                packet.retransmissions == 0 || age > path.rtt.smoothed()
            }
            // The peer got the packet as RTX and requested it afterwards: it has dropped
            // the RTX packet.
            Some(_) if packet.receipt == Receipt::AsRtx => was_asked_later(now, path, packet),
            // Feedback may be lost or rare: after these times, silence also means loss.
            Some(number) => {
                path.history.overtaken(number)
                    || age > path.rtt.overdue() * 2
                    || path.reports_rarely() && was_asked_later(now, path, packet)
            }
            None => age > path.rtt.smoothed(),
        };
        is_lost.then_some(last.path)
    }

    pub(super) fn on_keyframe_request(&mut self, now: Instant, media: Ssrc) {
        let Some((id, _)) = self.sender_of(media) else {
            self.drops.unknown_stream += 1;
            return;
        };
        let Some(stream) = self.streams.senders.get_mut(&id) else {
            return;
        };
        stream.counters.keyframes_requested += 1;
        self.request_keyframe_of(now, id);
    }
}

/// Returns whether the peer requested the packet after it would have received it: more
/// than a current round trip after the packet was sent, or was sent again on request. A
/// copy does not count, because the peer may drop RTX packets that it has not requested.
fn was_asked_later(now: Instant, path: &Path, packet: &Stored) -> bool {
    let sent = match packet.retransmissions {
        0 => packet.first_sent(),
        _ => packet.last.map(|last| last.at),
    };
    sent.is_some_and(|at| now.saturating_since(at) > path.recent_round_trip())
}
