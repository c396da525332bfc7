//! Assembly of packets into frames, and their release in order at the right time.

use weft_units::{Duration, Instant, MediaKind};
use weft_wire::payload::PictureNumbers;

use super::frame_assembly::{Assembled, AssembledFrame};
use super::references::Hole;
use super::{MAX_BYTES, PathShare, ReceiveEvent, ReceivedFrame, ReceivedPacket, Receiver};

impl Receiver {
    pub(super) fn collect(&mut self, now: Instant, packet: ReceivedPacket<'_>, timestamp: u64) {
        if packet.payload.is_empty() {
            self.count_received(&packet);
            self.check_neighbour(now, packet.sequence);
            return;
        }
        if self.frames.released().is_some_and(|(t, _)| timestamp <= t) {
            self.counted.packets.late += 1;
            self.check_neighbour(now, packet.sequence);
            return;
        }
        self.count_received(&packet);
        self.bound_packets(now);
        let assembled = match self.config.codec.kind() {
            MediaKind::Audio => Assembled::Frame(single(now, &packet, timestamp)),
            MediaKind::Video => {
                let packets = &mut self.packets;
                self.assembly.on_packet(packets, now, &packet, timestamp)
            }
        };
        self.on_assembled(now, assembled);
        self.check_neighbour(now, packet.sequence);
        self.bound_memory();
        if self.release_at.is_none() {
            self.advance(now);
        }
    }

    /// Checks whether this packet shows that the next one starts a frame.
    fn check_neighbour(&mut self, now: Instant, sequence: u64) {
        let assembled = self.assembly.on_neighbour(&mut self.packets, sequence);
        self.on_assembled(now, assembled);
    }

    fn on_assembled(&mut self, now: Instant, assembled: Assembled) {
        match assembled {
            Assembled::Frame(frame) => self.add_frame(now, frame),
            Assembled::Malformed => self.counted.packets.malformed += 1,
            Assembled::Pending => {}
        }
    }

    /// Drops frames that exceed the room for packets.
    fn bound_packets(&mut self, now: Instant) {
        self.counted.frames.dropped += self.assembly.abandon_overwritten(&mut self.packets);
        let Some(room) = self.config.profile.packet_buffer else {
            return;
        };
        let oldest = self.assembly.partials().next();
        if oldest.is_some_and(|(_, partial)| self.packets.span(partial.lowest) > u64::from(room)) {
            self.packets.release_all();
            self.counted.frames.dropped += self.assembly.clear();
            self.ask_for_keyframe(now);
        }
    }

    fn add_frame(&mut self, now: Instant, frame: AssembledFrame) {
        let construction = frame.complete_at.saturating_since(frame.first_arrival);
        let timestamp = frame.timestamp;
        if self.is_full() {
            self.counted.frames.dropped += match frame.keyframe {
                true => self.frames.clear(),
                false => 1,
            };
            if !frame.keyframe {
                return;
            }
        }
        if !self.frames.insert(frame) {
            self.counted.packets.malformed += 1;
            return;
        }
        self.counted.frames.complete += 1;
        self.counted.delays.construction.add(construction);
        if let Some(before) = self.clock.complete_at.replace(now) {
            let delay = now.saturating_since(before);
            self.counted.delays.inter_frame.add(delay);
        }
        self.jitter.on_complete(now, timestamp);
        self.advance(now);
    }

    /// Returns whether as many frames wait as the profile allows.
    fn is_full(&self) -> bool {
        let most = self.config.profile.frame_buffer;
        most.is_some_and(|most| self.frames.len() >= usize::from(most))
    }

    fn bound_memory(&mut self) {
        let dropped = if self.packets.bytes() + self.frames.bytes() > MAX_BYTES {
            self.packets.release_all();
            self.assembly.clear() + self.frames.clear()
        } else {
            let most = self.config.profile.frame_buffer;
            self.frames.bound(most.map(usize::from)) + self.assembly.bound(&mut self.packets)
        };
        if dropped > 0 {
            self.counted.frames.dropped += dropped;
            self.release_at = None;
            self.keyframes.on_unrecoverable();
        }
    }

    /// Releases the frames that are due, in order.
    pub(super) fn advance(&mut self, now: Instant) {
        self.release_at = None;
        while let Some((timestamp, hole)) = self.frames.next(&self.assembly, &self.packets) {
            let release_at = self.jitter.release_at(timestamp);
            if release_at > now {
                self.release_at = Some(release_at);
                self.keyframes.on_decodable();
                return;
            }
            self.release(timestamp, &hole, release_at);
        }
        self.check_stall(now);
    }

    fn release(&mut self, timestamp: u64, hole: &Hole, release_at: Instant) {
        let abandoned = self.assembly.abandon_before(&mut self.packets, timestamp);
        let Some((frame, skipped)) = self.frames.release(timestamp, hole, abandoned) else {
            return;
        };
        self.nack.forget_before(frame.first_sequence);
        self.keyframes.on_released();
        self.clock.ready_at = self.clock.ready_at.max(frame.complete_at);
        let lateness = self.clock.ready_at.saturating_since(release_at);
        let counters = &mut self.counted.frames;
        counters.dropped += skipped;
        counters.released += 1;
        counters.keyframes += u64::from(frame.keyframe);
        counters.late += u64::from(lateness > Duration::ZERO);
        self.events.push_back(ReceiveEvent::Frame(ReceivedFrame {
            data: frame.data,
            codec: self.config.codec,
            timestamp: frame.timestamp as u32,
            keyframe: frame.keyframe,
            temporal_layer: frame.info.temporal_layer,
            layer_sync: frame.info.layer_sync,
            picture_id: frame.info.picture_id,
            first_sequence: frame.first_sequence,
            packets: frame.packets,
            recovered_packets: frame.recovered_packets,
            first_arrival: frame.first_arrival,
            complete_at: frame.complete_at,
            release_at,
            lateness,
            paths: frame.paths,
        }));
    }

    pub(super) fn count_received(&mut self, packet: &ReceivedPacket<'_>) {
        let counters = &mut self.counted.packets;
        counters.received += 1;
        counters.bytes += packet.payload.len() as u64;
        counters.recovered += u64::from(packet.recovered);
    }
}

/// Makes a frame from an audio packet.
fn single(now: Instant, packet: &ReceivedPacket<'_>, timestamp: u64) -> AssembledFrame {
    let share = PathShare {
        path: packet.path,
        packets: 1,
        late_packets: 0,
        first_arrival: now,
        last_arrival: now,
    };
    AssembledFrame {
        timestamp,
        first_sequence: packet.sequence,
        last_sequence: packet.sequence,
        info: PictureNumbers::default(),
        keyframe: true,
        data: packet.payload.to_vec(),
        packets: 1,
        recovered_packets: u32::from(packet.recovered),
        first_arrival: now,
        complete_at: now,
        paths: if packet.recovered {
            Vec::new()
        } else {
            vec![share]
        },
    }
}
