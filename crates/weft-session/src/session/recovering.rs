//! Incoming repair packets, and the packets recovered from them.

use weft_units::{Duration, Instant, PathId, StreamId};
use weft_wire::rtp::{self, Header};

use super::Session;
use super::receive_stream::Purpose;
use crate::receive::{ReceivedPacket, Recovered};

/// While repair packets arrive, a missing packet is requested only after this time plus
/// half a round trip. A protection may reach back half a round trip, and this time is a
/// frame's, because the repair packet follows the frame. Chosen by us. A sender with
/// feedback on each packet sends again without a request what no repair packet can
/// recover.
const REPAIR_WAIT: Duration = Duration::from_millis(40);

/// Longest such wait: a picture that waits longer is already a freeze. Chosen by us.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

impl Session {
    /// Handles a repair packet of this stream.
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
            // From another source, from several, or from a stream whose media has not
            // started here.
            self.drops.unknown_stream += 1;
            return;
        };
        stream.recovery.on_repair(now, highest, payload);
        let round_trip = self.paths.get(&path).map(|p| p.rtt.smoothed());
        let wait = REPAIR_WAIT + round_trip.unwrap_or_default() / 2;
        stream.receiver.set_repair_wait(wait.min(LONGEST_WAIT));
        self.recover(now, path, id);
    }

    /// Records a packet of the stream, original or retransmission, and keeps it for
    /// repair packets.
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

    /// Passes on recovered packets as if they had been received.
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
