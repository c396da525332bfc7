//! VP8 packets to frames: a frame is complete when every sequence number from
//! its start of partition zero to its marker has arrived (RFC 7741).

use super::packet_buffer::{Held, PacketBuffer};
use super::types::{PathShare, ReceivedPacket};
use std::collections::BTreeMap;
use weft_units::Instant;
use weft_wire::vp8::{self, Descriptor};

/// Frames in the making; a sender has few at a time, an outage leaves one per
/// frame interval. Chosen by us: two seconds of 60 Hz.
pub(super) const MAX_PARTIALS: usize = 128;

/// What the decoder's gate has to know about a frame; the names are those of
/// the VP8 payload descriptor. All `None` for audio.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct FrameInfo {
    pub(super) picture_id: Option<u16>,
    pub(super) tl0_picture_index: Option<u8>,
    pub(super) temporal_layer: Option<u8>,
    pub(super) layer_sync: bool,
    pub(super) non_reference: bool,
}

/// A complete frame that has not been handed on.
#[derive(Debug)]
pub(super) struct AssembledFrame {
    /// Extended timestamp.
    pub(super) timestamp: u64,
    pub(super) first_sequence: u64,
    pub(super) last_sequence: u64,
    pub(super) info: FrameInfo,
    pub(super) keyframe: bool,
    pub(super) data: Vec<u8>,
    pub(super) packets: u32,
    pub(super) recovered_packets: u32,
    pub(super) first_arrival: Instant,
    pub(super) complete_at: Instant,
    pub(super) paths: Vec<PathShare>,
}

/// A frame of which some packets have arrived.
#[derive(Debug)]
pub(super) struct Partial {
    /// Sequence number of the packet that starts the frame, once it is here.
    pub(super) first: Option<u64>,
    /// Sequence number of the packet with the marker, once it is here.
    pub(super) last: Option<u64>,
    pub(super) lowest: u64,
    pub(super) highest: u64,
    pub(super) info: FrameInfo,
    pub(super) keyframe: bool,
    pub(super) last_arrival: Instant,
    count: u64,
}

/// What became of a packet.
pub(super) enum Assembled {
    /// Its frame is not complete.
    Pending,
    Frame(AssembledFrame),
    /// It is no VP8, or contradicts the packets of its frame.
    Malformed,
}

#[derive(Debug, Default)]
pub(super) struct FrameAssembly {
    partials: BTreeMap<u64, Partial>,
}

impl From<&Descriptor> for FrameInfo {
    fn from(d: &Descriptor) -> FrameInfo {
        FrameInfo {
            picture_id: d.picture_id,
            tl0_picture_index: d.tl0_picture_index,
            temporal_layer: d.temporal_layer,
            layer_sync: d.layer_sync,
            non_reference: d.non_reference,
        }
    }
}

impl FrameAssembly {
    /// Adds a packet that `buffer` knows as new, and holds it there.
    pub(super) fn on_packet(
        &mut self,
        buffer: &mut PacketBuffer,
        now: Instant,
        packet: &ReceivedPacket<'_>,
        timestamp: u64,
    ) -> Assembled {
        let Ok((descriptor, body)) = vp8::parse(packet.payload) else {
            return Assembled::Malformed;
        };
        let sequence = packet.sequence;
        let starts = descriptor.start_of_partition && descriptor.partition == 0;
        let partial = self.partials.entry(timestamp).or_insert_with(|| Partial {
            first: None,
            last: None,
            lowest: sequence,
            highest: sequence,
            info: FrameInfo::from(&descriptor),
            keyframe: false,
            last_arrival: now,
            count: 0,
        });
        if starts {
            partial.keyframe = vp8::is_keyframe(&descriptor, body);
            partial.first = Some(sequence);
        }
        if packet.marker {
            partial.last = Some(sequence);
        }
        partial.lowest = partial.lowest.min(sequence);
        partial.highest = partial.highest.max(sequence);
        partial.last_arrival = now;
        partial.count += 1;
        let complete = partial.is_complete();
        let contradicts = partial.contradicts();
        buffer.hold(now, packet, body);
        if contradicts {
            self.abandon(buffer, timestamp);
            return Assembled::Malformed;
        }
        if !complete {
            return Assembled::Pending;
        }
        match self.partials.remove(&timestamp) {
            Some(partial) => partial.assemble(buffer, timestamp),
            None => Assembled::Pending,
        }
    }

    /// Frames in the making, oldest first, with their extended timestamps.
    pub(super) fn partials(&self) -> impl Iterator<Item = (u64, &Partial)> {
        self.partials.iter().map(|(&t, p)| (t, p))
    }

    /// When the last packet of a keyframe in the making came.
    pub(super) fn keyframe_progress(&self) -> Option<Instant> {
        let keyframes = self.partials.values().filter(|p| p.keyframe);
        keyframes.map(|p| p.last_arrival).max()
    }

    /// Frames in the making strictly between two timestamps.
    pub(super) fn between(&self, after: u64, before: u64) -> impl Iterator<Item = &Partial> {
        let range = (after + 1 < before).then(|| self.partials.range(after + 1..before));
        range.into_iter().flatten().map(|(_, partial)| partial)
    }

    /// Gives up the frames before `timestamp`; how many there were.
    pub(super) fn abandon_before(&mut self, buffer: &mut PacketBuffer, timestamp: u64) -> u64 {
        let mut abandoned = 0;
        while let Some(entry) = self.partials.first_entry()
            && *entry.key() < timestamp
        {
            entry.remove().discard(buffer);
            abandoned += 1;
        }
        abandoned
    }

    /// Gives up the frames whose packets have left the ring; how many.
    pub(super) fn abandon_overwritten(&mut self, buffer: &mut PacketBuffer) -> u64 {
        let oldest = buffer.oldest();
        let mut abandoned = 0;
        while let Some(entry) = self.partials.first_entry()
            && entry.get().lowest < oldest
        {
            entry.remove().discard(buffer);
            abandoned += 1;
        }
        abandoned
    }

    /// Gives up the oldest frames beyond what is kept; how many.
    pub(super) fn bound(&mut self, buffer: &mut PacketBuffer) -> u64 {
        let mut abandoned = 0;
        while self.partials.len() > MAX_PARTIALS {
            if let Some((_, partial)) = self.partials.pop_first() {
                partial.discard(buffer);
                abandoned += 1;
            }
        }
        abandoned
    }

    /// Forgets every frame in the making, but not its packets; how many.
    pub(super) fn clear(&mut self) -> u64 {
        std::mem::take(&mut self.partials).len() as u64
    }

    fn abandon(&mut self, buffer: &mut PacketBuffer, timestamp: u64) {
        if let Some(partial) = self.partials.remove(&timestamp) {
            partial.discard(buffer);
        }
    }
}

impl Partial {
    fn is_complete(&self) -> bool {
        matches!((self.first, self.last), (Some(first), Some(last))
            if first <= last && self.count == last - first + 1)
    }

    /// Packets of one timestamp stand outside of its first and its last.
    fn contradicts(&self) -> bool {
        self.first.is_some_and(|first| self.lowest < first)
            || self.last.is_some_and(|last| self.highest > last)
    }

    fn discard(&self, buffer: &mut PacketBuffer) {
        for sequence in self.lowest.max(buffer.oldest())..=self.highest {
            buffer.release(sequence);
        }
    }

    fn assemble(self, buffer: &mut PacketBuffer, timestamp: u64) -> Assembled {
        let frame = self.read(buffer, timestamp);
        self.discard(buffer);
        frame.map_or(Assembled::Malformed, Assembled::Frame)
    }

    /// The frame, unless packets of it have left the ring.
    fn read(&self, buffer: &PacketBuffer, timestamp: u64) -> Option<AssembledFrame> {
        let held = (self.lowest..=self.highest).map_while(|s| buffer.held(s));
        let packets: Vec<&Held> = held.collect();
        if packets.len() as u64 != self.count {
            return None;
        }
        let mut data = Vec::with_capacity(packets.iter().map(|p| p.body.len()).sum());
        for packet in &packets {
            data.extend_from_slice(&packet.body);
        }
        Some(AssembledFrame {
            timestamp,
            first_sequence: self.lowest,
            last_sequence: self.highest,
            info: self.info,
            keyframe: self.keyframe,
            data,
            packets: packets.len() as u32,
            recovered_packets: packets.iter().filter(|p| p.recovered).count() as u32,
            first_arrival: packets.iter().map(|p| p.arrived).min()?,
            complete_at: self.last_arrival,
            paths: shares(&packets),
        })
    }
}

/// Each path's part of a frame, in the order of path ids.
fn shares(packets: &[&Held]) -> Vec<PathShare> {
    let mut shares: Vec<PathShare> = Vec::new();
    for packet in packets.iter().filter(|p| !p.recovered) {
        match shares.iter_mut().find(|s| s.path == packet.path) {
            Some(share) => {
                share.packets += 1;
                share.first_arrival = share.first_arrival.min(packet.arrived);
                share.last_arrival = share.last_arrival.max(packet.arrived);
            }
            None => shares.push(PathShare {
                path: packet.path,
                packets: 1,
                late_packets: 0,
                first_arrival: packet.arrived,
                last_arrival: packet.arrived,
            }),
        }
    }
    shares.sort_by_key(|s| s.path);
    for index in 0..shares.len() {
        let path = shares[index].path;
        let others = shares.iter().filter(|s| s.path != path);
        if let Some(others_last) = others.map(|s| s.last_arrival).max() {
            let late = |p: &&&Held| !p.recovered && p.path == path && p.arrived > others_last;
            shares[index].late_packets = packets.iter().filter(late).count() as u32;
        }
    }
    shares
}
