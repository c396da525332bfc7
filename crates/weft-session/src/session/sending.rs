//! From a frame to packets on paths.

use std::sync::Arc;

use std::ops::Bound;

use weft_units::{Bytes, Duration, Instant, PathId, StreamId};
use weft_wire::rtp::{Extensions, Header, PathExtension};
use weft_wire::rtx;

use super::{Error, Session};
use crate::config::{Feedback, Level, RETRANSMISSION_AGE};
use crate::event::{ForwardedPacket, Frame, Output, Protocol, Transmit};
use crate::path::{Carried, Path, Purpose, Waiting};
use crate::schedule::{Assignment, Batch, Class};
use crate::send::{Copies, Stored, Transmission, packetize};

/// A packet is sent again this often at most; what five losses in a row took
/// is past its play-out time. Chosen by us.
const MAX_RETRANSMISSIONS: u8 = 5;

impl Session {
    /// Packetises a frame and sends it. Frames of a stream come in encoding
    /// order.
    ///
    /// # Errors
    /// If there is no such sending stream.
    pub fn send_frame(
        &mut self,
        now: Instant,
        id: StreamId,
        frame: &Frame<'_>,
    ) -> Result<(), Error> {
        let max_payload = self.max_payload();
        if !self.may_send(now, id, frame.keyframe)? {
            return Ok(());
        }
        let stream = self.senders.get_mut(&id).ok_or(Error::UnknownStream(id))?;
        stream.counters.frames += 1;
        let payloads = if stream.is_audio() {
            vec![Arc::from(frame.data)]
        } else {
            let base_layer = frame.temporal_layer.unwrap_or(0) == 0;
            let (picture_id, tl0) = stream.next_picture(base_layer);
            packetize(frame, picture_id, tl0, max_payload)
        };
        let class = Class::of(stream.config.kind, frame.keyframe);
        let last = payloads.len() - 1;
        let mut sequences = Vec::with_capacity(payloads.len());
        for (index, payload) in payloads.into_iter().enumerate() {
            // RFC 3551 section 4.1: an audio marker begins a talkspurt; ours
            // never pauses.
            let marker = index == last && class != Class::Audio;
            let stored = Stored::new(now, frame.timestamp, marker, payload, frame.keyframe);
            sequences.push(stream.store(now, stored));
        }
        self.schedule(now, id, class, &sequences);
        self.advance(now);
        Ok(())
    }

    /// Sends a packet that came from elsewhere, under the forwarder's number.
    ///
    /// # Errors
    /// If there is no such sending stream.
    pub fn send_packet(
        &mut self,
        now: Instant,
        id: StreamId,
        packet: &ForwardedPacket,
    ) -> Result<(), Error> {
        if !self.may_send(now, id, packet.keyframe)? {
            return Ok(());
        }
        let stream = self.senders.get_mut(&id).ok_or(Error::UnknownStream(id))?;
        let payload = Arc::clone(&packet.payload);
        let stored = Stored::new(
            now,
            packet.timestamp,
            packet.marker,
            payload,
            packet.keyframe,
        );
        if stream.store_at(now, packet.sequence, stored) {
            let class = Class::of(stream.config.kind, packet.keyframe);
            self.schedule(now, id, class, &[packet.sequence]);
            self.advance(now);
        }
        Ok(())
    }

    /// Whether a path is there, and the receiver can use what comes: after an
    /// interruption nothing before a keyframe.
    fn may_send(&mut self, now: Instant, id: StreamId, keyframe: bool) -> Result<bool, Error> {
        let has_path = self.paths.values().any(Path::is_usable);
        let stream = self.senders.get_mut(&id).ok_or(Error::UnknownStream(id))?;
        if !has_path {
            stream.interrupt();
            return Ok(false);
        }
        let useful = stream.may_send(keyframe);
        if !useful {
            self.ask_for_keyframe(now, id);
        }
        Ok(useful)
    }

    fn schedule(&mut self, now: Instant, id: StreamId, class: Class, sequences: &[u64]) {
        let views = self.path_views();
        let Some(stream) = self.senders.get(&id) else {
            return;
        };
        if views.is_empty() {
            return;
        }
        let sizes: Vec<Bytes> = sequences.iter().map(|s| stream.packet_size(*s)).collect();
        let batch = Batch {
            class,
            sizes: &sizes,
        };
        let assignments = self.scheduler.assign(now, &batch, &views);
        debug_assert_eq!(assignments.len(), sequences.len());
        let purpose = match class {
            Class::Audio => Purpose::Audio,
            Class::Retransmission => Purpose::Retransmission,
            Class::Keyframe | Class::Delta => Purpose::Video,
        };
        for ((&sequence, &size), Assignment { path, copies }) in
            sequences.iter().zip(&sizes).zip(assignments)
        {
            if let Some(path) = self.paths.get_mut(&path) {
                path.queue.push(Waiting {
                    stream: id,
                    sequence,
                    purpose,
                    size,
                    copies,
                });
            }
        }
    }

    /// Schedules anew what waited on a path that died.
    pub(super) fn requeue(&mut self, now: Instant, waiting: Waiting) {
        let Some(stream) = self.senders.get(&waiting.stream) else {
            return;
        };
        let keyframe = stream.get(waiting.sequence).is_some_and(|p| p.keyframe);
        let class = Class::of(stream.config.kind, keyframe);
        self.schedule(now, waiting.stream, class, &[waiting.sequence]);
    }

    /// Sends a packet again if the transmission that was lost is its latest
    /// and only one: of a copy the receiver has to say that it is missing.
    pub(super) fn retransmit_if_current(
        &mut self,
        now: Instant,
        path: PathId,
        number: u64,
        carried: Carried,
    ) {
        let stored = self
            .senders
            .get(&carried.stream)
            .and_then(|stream| stream.get(carried.sequence));
        let current = stored.and_then(|p| p.last).is_some_and(|last| {
            last.path == path && last.number == Some(number) && last.copies == Copies::None
        });
        if current {
            self.retransmit(now, carried.stream, carried.sequence);
        }
    }

    /// Queues a retransmission, unless it is too late, was done too often, or
    /// waits already.
    pub(super) fn retransmit(&mut self, now: Instant, id: StreamId, sequence: u64) {
        let has_path = self.paths.values().any(Path::is_usable);
        let Some(stream) = self.senders.get_mut(&id) else {
            return;
        };
        if stream.config.rtx.is_none() || !has_path {
            return;
        }
        let Some(packet) = stream.get_mut(sequence) else {
            return;
        };
        let late = now.saturating_since(packet.created_at) > RETRANSMISSION_AGE;
        let spent = packet.retransmissions >= MAX_RETRANSMISSIONS;
        if late || spent || packet.acknowledged || packet.queued_again || packet.payload.is_empty()
        {
            return;
        }
        packet.queued_again = true;
        packet.retransmissions += 1;
        stream.counters.retransmissions += 1;
        self.schedule(now, id, Class::Retransmission, &[sequence]);
    }

    pub(super) fn clear_queued_again(&mut self, id: StreamId, sequence: u64) {
        let packet = self.senders.get_mut(&id).and_then(|s| s.get_mut(sequence));
        if let Some(packet) = packet {
            packet.queued_again = false;
            packet.retransmissions = packet.retransmissions.saturating_sub(1);
        }
    }

    /// Sends what the pacers let go.
    pub(super) fn transmit_due(&mut self, now: Instant) {
        let mut next = self.paths.keys().next().copied();
        while let Some(id) = next {
            self.transmit_path(now, id);
            let mut after = self.paths.range((Bound::Excluded(id), Bound::Unbounded));
            next = after.next().map(|(id, _)| *id);
        }
    }

    fn transmit_path(&mut self, now: Instant, id: PathId) {
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        path.refresh_pacing(now);
        loop {
            let Some(path) = self.paths.get_mut(&id) else {
                return;
            };
            if !path.is_usable() || path.next_send(now) > now {
                return;
            }
            if let Some(waiting) = path.queue.pop() {
                self.transmit(now, id, waiting);
            } else if self.paths.get(&id).is_some_and(|p| self.can_pad(p)) {
                if !self.send_padding(now, id) {
                    return;
                }
            } else {
                return;
            }
        }
    }

    /// Whether a probe on this path can be filled with duplicates, and anybody
    /// will tell what became of them.
    pub(super) fn can_pad(&self, path: &Path) -> bool {
        self.level != Level::Single && path.wants_padding() && self.padding_packet().is_some()
    }

    /// A recent video packet, to be sent again as a probe: more useful than
    /// zeros, as a receiver that lost it has it then.
    fn padding_packet(&self) -> Option<(StreamId, u64)> {
        self.senders.iter().find_map(|(id, stream)| {
            stream.config.rtx?;
            Some((*id, stream.newest_sent()?))
        })
    }

    /// Sends a duplicate as RTX on this path; false if there is none to send.
    pub(super) fn send_padding(&mut self, now: Instant, path: PathId) -> bool {
        let Some((stream, sequence)) = self.padding_packet() else {
            return false;
        };
        self.transmit_again(now, path, stream, sequence);
        true
    }

    fn transmit(&mut self, now: Instant, id: PathId, waiting: Waiting) {
        let Some(path) = self.paths.get_mut(&id) else {
            return;
        };
        let Some(stream) = self.senders.get_mut(&waiting.stream) else {
            return;
        };
        let again = waiting.purpose == Purpose::Retransmission;
        let Some(packet) = stream.get_mut(waiting.sequence) else {
            return;
        };
        if again && packet.payload.is_empty() {
            // It has arrived after all.
            packet.queued_again = false;
            return;
        }
        let config = &stream.config;
        let (ssrc, payload_type, sequence) = match (again, config.rtx) {
            (true, Some((ssrc, payload_type))) => {
                stream.rtx_sequence = stream.rtx_sequence.wrapping_add(1);
                (ssrc, payload_type, stream.rtx_sequence)
            }
            _ => (config.ssrc, config.payload_type, waiting.sequence as u16),
        };
        let (mid, feedback, has_rtx) = (config.mid, config.feedback, config.rtx.is_some());
        let Some(packet) = stream.get_mut(waiting.sequence) else {
            return;
        };
        let copies = match waiting.copies[..] {
            [] => Copies::None,
            _ => Copies::Elsewhere,
        };
        // A transport-wide number is reported whichever copy came: it would
        // speak for a path that lost it. So copies get numbers of their own
        // there, as retransmissions, or none has one.
        let is_sender_side = self.level == Level::SenderSide;
        let copies_differ = is_sender_side && has_rtx;
        let numbered = feedback == Feedback::EachPacket
            && self.level != Level::Single
            && (copies == Copies::None || copies_differ || !is_sender_side);
        let number = numbered.then(|| path.history.next_number());
        let level = number.map(|number| (self.level, number));
        let extensions = Extensions {
            transport_sequence: match level {
                Some((Level::SenderSide, number)) => Some(self.transport.push(id, number) as u16),
                _ => None,
            },
            path: match level {
                Some((Level::Full, number)) => Some(PathExtension {
                    path: id,
                    stream_sequence: path.next_stream_sequence(ssrc),
                    transport_sequence: number as u16,
                }),
                _ => None,
            },
            mid,
            audio_level: None,
        };
        let header = Header {
            marker: packet.marker,
            payload_type,
            sequence,
            timestamp: packet.timestamp,
            ssrc,
            extensions,
        };
        // Room for the SRTP tag (16 bytes), so that protection is in place.
        let mut bytes = Vec::with_capacity(packet.payload.len() + crate::send::HEADROOM + 32);
        header.write(&self.config.extensions, &mut bytes);
        if again {
            rtx::write(waiting.sequence as u16, &packet.payload, &mut bytes);
        } else {
            bytes.extend_from_slice(&packet.payload);
        }
        let size = Bytes(bytes.len() as u64);
        packet.queued_again = false;
        if numbered {
            let carried = Carried {
                stream: waiting.stream,
                sequence: waiting.sequence,
            };
            path.on_sent(now, size, carried);
        } else {
            path.on_unreported_sent(now, size);
        }
        packet.last = Some(Transmission {
            path: id,
            number,
            at: now,
            copies,
        });
        stream.counters.packets = stream.counters.packets.wrapping_add(1);
        stream.counters.octets = stream.counters.octets.wrapping_add(size.0 as u32);
        let same_bytes = match copies_differ {
            true => Vec::new(),
            false => self.live_copies(now, &waiting.copies, size),
        };
        let transmit = Transmit {
            path: id,
            copies: same_bytes,
            packet: bytes,
            protocol: Protocol::Rtp,
        };
        self.outputs.push_back(Output::Transmit(transmit));
        if copies_differ {
            for copy in waiting.copies {
                if self.paths.get(&copy).is_some_and(Path::is_usable) {
                    self.transmit_again(now, copy, waiting.stream, waiting.sequence);
                }
            }
        }
    }

    /// Sends a packet as RTX on this path, without waiting.
    fn transmit_again(&mut self, now: Instant, path: PathId, stream: StreamId, sequence: u64) {
        let waiting = Waiting {
            stream,
            sequence,
            purpose: Purpose::Retransmission,
            size: Bytes::ZERO,
            copies: Vec::new(),
        };
        self.transmit(now, path, waiting);
    }

    fn live_copies(&mut self, now: Instant, wanted: &[PathId], size: Bytes) -> Vec<PathId> {
        let mut copies = Vec::new();
        for id in wanted {
            if let Some(path) = self.paths.get_mut(id).filter(|p| p.is_usable()) {
                path.on_copy_sent(now, size);
                copies.push(*id);
            }
        }
        copies
    }

    /// How long what waits takes to leave the pacers, the longest over all
    /// paths: what a forwarder should stop for.
    #[must_use]
    pub fn queue_time(&self) -> Duration {
        let drain = |p: &Path| p.controller.pacing_rate().time_for(p.queue.bytes());
        self.paths
            .values()
            .filter_map(drain)
            .max()
            .unwrap_or_default()
    }

    /// How long what waits would take at the current target, the longest over
    /// all paths: what an encoder that overshoots should skip a frame for.
    #[must_use]
    pub fn backlog(&self) -> Duration {
        let drain = |p: &Path| p.controller.target_rate().time_for(p.queue.bytes());
        self.paths
            .values()
            .filter_map(drain)
            .max()
            .unwrap_or_default()
    }
}
