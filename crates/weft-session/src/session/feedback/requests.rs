//! Requests of the peer: packets again (RFC 4585 NACK) and keyframes (PLI, FIR).
//! Our own requests are in `receive`, where frames are put together.

use weft_units::{Instant, PathId, Ssrc, StreamId};

use super::super::Session;

impl Session {
    /// A NACK is answered only for what is really lost: not for what was
    /// acknowledged, nor for what is still in flight on a slower path.
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
                    if self.paths.get(&path).is_some() {
                        self.protecting.protection.on_unrepaired(now, path);
                    }
                    self.retransmit(now, id, sequence);
                }
                None => stream.counters.nacks_ignored += 1,
            }
        }
    }

    /// The path that this packet was really lost on.
    fn lost_on(&self, now: Instant, id: StreamId, sequence: u64) -> Option<PathId> {
        let packet = self.streams.senders.get(&id)?.get(sequence);
        let packet = packet.filter(|p| !p.acknowledged)?;
        let last = packet.last?;
        let Some(path) = self.paths.get(&last.path) else {
            return Some(last.path);
        };
        let age = now.saturating_since(last.at);
        let is_lost = match last.number {
            // A request counts, once in a round trip.
            _ if !self.repairs_by_path() => {
                packet.retransmissions == 0 || age > path.rtt.smoothed()
            }
            // Feedback may have been lost: after this time silence says the
            // same.
            Some(number) => path.history.overtaken(number) || age > path.rtt.overdue() * 2,
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
