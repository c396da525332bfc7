//! Repair packets that come in, and what is made of them.

use weft_units::{Duration, Instant, PathId, StreamId};
use weft_wire::rtp::{self, Header};

use super::Session;
use super::receive_stream::Purpose;
use crate::receive::{ReceivedPacket, Recovered};

/// While repair packets come, what is missing is asked for only after half a
/// round trip, which a protection may reach back, and this time: a frame's, as
/// the repair packet follows the frame. Chosen by us; where the sender has
/// feedback on each packet, it sends again what no repair packet can bring back
/// without being asked.
const REPAIR_WAIT: Duration = Duration::from_millis(40);

/// A picture that waits longer is a freeze already. Chosen by us.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

impl Session {
    /// A repair packet of this stream came.
    pub(super) fn on_repair(
        &mut self,
        now: Instant,
        path: PathId,
        id: StreamId,
        header: &Header,
        packet: &[u8],
        payload: &[u8],
    ) {
        let receivers = &mut self.streams.receivers;
        receivers.learn(id, Purpose::Repair, header.ssrc);
        let Some(stream) = receivers.get_mut(id) else {
            return;
        };
        let mut sources = rtp::contributing_sources(packet).into_iter().flatten();
        let of_stream = stream.ssrc().is_some() && sources.next() == stream.ssrc();
        let (Some(highest), true, None) = (stream.highest, of_stream, sources.next()) else {
            // Of another source, of several, or of what we never heard the
            // beginning of.
            self.drops.unknown_stream += 1;
            return;
        };
        stream.recovery.on_repair(now, highest, payload);
        let round_trip = self.paths.get(&path).map(|p| p.rtt.smoothed());
        let wait = REPAIR_WAIT + round_trip.unwrap_or_default() / 2;
        stream.receiver.set_repair_wait(wait.min(LONGEST_WAIT));
        self.recover(now, path, id);
    }

    /// A packet of the stream came, for the first time or again: keeps what
    /// repair packets may need.
    pub(super) fn keep_for_repair(
        &mut self,
        now: Instant,
        path: PathId,
        id: StreamId,
        sequence: u64,
        packet: &[u8],
        again: bool,
    ) {
        let Some(stream) = self.streams.receivers.get_mut(id) else {
            return;
        };
        if !stream.recovery.in_use(now) {
            stream.receiver.set_repair_wait(Duration::ZERO);
        }
        if again {
            stream.recovery.on_retransmission(now, sequence);
        } else {
            stream.recovery.on_packet(now, sequence, packet);
        }
        self.recover(now, path, id);
    }

    /// Hands on recovered packets as if they had been received.
    pub(super) fn recover(&mut self, now: Instant, path: PathId, id: StreamId) {
        let Some(stream) = self.streams.receivers.get_mut(id) else {
            return;
        };
        let Some(ssrc) = stream.ssrc() else {
            return;
        };
        let map = &self.config.extensions;
        while let Some(Recovered { sequence, packet }) = stream.recovery.poll(ssrc, map) {
            let parsed = rtp::parse(&packet, map).ok();
            let is_ours = |(header, payload): &(Header, &[u8])| {
                header.payload_type == stream.config.payload_type && !payload.is_empty()
            };
            let Some((header, payload)) = parsed.filter(is_ours) else {
                stream.recovery.refuse(sequence);
                continue;
            };
            stream.highest = stream.highest.max(Some(sequence));
            let received = ReceivedPacket {
                path,
                sequence,
                stream_sequence: None,
                timestamp: header.timestamp,
                marker: header.marker,
                audio_level: None,
                dependency: rtp::dependency_of(&packet, map),
                payload,
                recovered: true,
            };
            stream.receiver.handle_packet(now, received);
        }
    }
}
