//! Assembly of packets into frames: a frame is complete when every sequence number from
//! its first packet to its marker has arrived. Packets of some codecs mark the first one,
//! such as VP8's with the start of partition zero (RFC 7741). With other codecs, such as
//! H.264, a packet is the first if it begins with data that can only start a picture;
//! otherwise it is the first if the packet before it has arrived with another timestamp
//! (RFC 6184 section 5.1).

use super::packet_buffer::{Held, PacketBuffer};
use super::types::{PathShare, ReceivedPacket};
use crate::small_map::SmallMap;
use smallvec::SmallVec;
use weft_units::{Codec, Instant};
use weft_wire::payload::{FirstPacket, PayloadFormat, PictureNumbers, PieceInfo, Start, format_of};

/// Most incomplete frames; a sender has few at a time, an outage leaves one per frame
/// interval. Chosen by us: two seconds of 60 Hz.
pub(super) const MAX_PARTIALS: usize = 128;

/// Complete frame that has not been passed on.
#[derive(Debug)]
pub(super) struct AssembledFrame {
    /// Extended timestamp.
    pub(super) timestamp: u64,
    pub(super) first_sequence: u64,
    pub(super) last_sequence: u64,
    pub(super) info: PictureNumbers,
    pub(super) keyframe: bool,
    pub(super) data: Vec<u8>,
    pub(super) packets: u32,
    pub(super) recovered_packets: u32,
    pub(super) first_arrival: Instant,
    pub(super) complete_at: Instant,
    pub(super) paths: Vec<PathShare>,
}

/// Frame of which some packets have arrived.
#[derive(Debug)]
pub(super) struct Partial {
    /// Sequence number of the packet that starts the frame, once it has arrived.
    pub(super) first: Option<u64>,
    /// Sequence number of the packet with the marker, once it has arrived.
    pub(super) last: Option<u64>,
    pub(super) lowest: u64,
    pub(super) highest: u64,
    pub(super) info: PictureNumbers,
    /// Whether it is a keyframe, or seems to become one.
    pub(super) keyframe: bool,
    /// Whether it is known not to be a keyframe.
    pub(super) is_delta: bool,
    pub(super) last_arrival: Instant,
    count: u64,
    /// Whether it has a part of a picture that refers to no other.
    intra: bool,
    sequence_parameters: bool,
    picture_parameters: bool,
    /// Whether the lowest packet can be the first, and the lowest packet that probably
    /// is.
    lowest_start: Start,
    begins_at: Option<u64>,
}

/// Result of adding a packet.
pub(super) enum Assembled {
    /// The frame is not complete.
    Pending,
    Frame(AssembledFrame),
    /// The packet is not a valid payload of the codec, or contradicts the packets of its
    /// frame.
    Malformed,
}

#[derive(Debug)]
pub(super) struct FrameAssembly {
    format: &'static dyn PayloadFormat,
    partials: SmallMap<u64, Partial>,
    /// Whether a keyframe has brought its parameters, or needs none: later ones may omit
    /// them.
    has_parameters: bool,
}

impl FrameAssembly {
    pub(super) fn new(codec: Codec) -> FrameAssembly {
        let format = format_of(codec);
        FrameAssembly {
            format,
            partials: SmallMap::default(),
            has_parameters: !format.has_parameters(),
        }
    }

    fn infers_first(&self) -> bool {
        self.format.first_packet() == FirstPacket::Inferred
    }

    /// Adds a packet that is new to `buffer`, and stores it there.
    pub(super) fn on_packet(
        &mut self,
        buffer: &mut PacketBuffer,
        now: Instant,
        packet: &ReceivedPacket<'_>,
        timestamp: u64,
    ) -> Assembled {
        let Ok(piece) = self.format.read(packet.payload) else {
            return Assembled::Malformed;
        };
        let infers_first = self.infers_first();
        let partial = self.partials.get_or_insert_with(timestamp, || {
            Partial::new(packet.sequence, piece.info.numbers, now)
        });
        partial.add(now, packet, &piece.info);
        if infers_first {
            partial.find_first(buffer);
        }
        let (contradicts, is_complete) = (partial.contradicts(), partial.is_complete());
        buffer.hold(now, packet, |body| piece.body.write(body));
        if contradicts {
            self.abandon(buffer, timestamp);
            return Assembled::Malformed;
        }
        match is_complete {
            true => self.take_complete(buffer, timestamp),
            false => Assembled::Pending,
        }
    }

    /// Completes the frame after this packet, for codecs whose packets do not mark the
    /// first one: this packet has arrived now and belongs to another frame or to none.
    pub(super) fn on_neighbour(&mut self, buffer: &mut PacketBuffer, sequence: u64) -> Assembled {
        if !self.infers_first() {
            return Assembled::Pending;
        }
        let follows = |(_, partial): &(&u64, &mut Partial)| partial.lowest == sequence + 1;
        let Some((&timestamp, partial)) = self.partials.iter_mut().find(follows) else {
            return Assembled::Pending;
        };
        partial.find_first(buffer);
        self.take_complete(buffer, timestamp)
    }

    fn take_complete(&mut self, buffer: &mut PacketBuffer, timestamp: u64) -> Assembled {
        let complete = self
            .partials
            .get(&timestamp)
            .is_some_and(Partial::is_complete);
        let partial = complete.then(|| self.partials.remove(&timestamp)).flatten();
        let Some(mut partial) = partial else {
            return Assembled::Pending;
        };
        let brings_them = partial.sequence_parameters && partial.picture_parameters;
        self.has_parameters |= partial.intra && brings_them;
        partial.keyframe = partial.intra && self.has_parameters;
        if partial.lowest_start == Start::Never {
            partial.discard(buffer);
            return Assembled::Malformed;
        }
        partial.assemble(buffer, timestamp)
    }

    /// Returns the incomplete frames, oldest first, with their extended timestamps.
    pub(super) fn partials(&self) -> impl Iterator<Item = (u64, &Partial)> {
        self.partials.iter().map(|(&t, p)| (t, p))
    }

    /// Returns the arrival of the last packet of an incomplete keyframe.
    pub(super) fn keyframe_progress(&self) -> Option<Instant> {
        let keyframes = self.partials.values().filter(|p| p.keyframe);
        keyframes.map(|p| p.last_arrival).max()
    }

    /// Returns the incomplete frames strictly between two timestamps.
    pub(super) fn between(&self, after: u64, before: u64) -> impl Iterator<Item = &Partial> {
        self.partials.between(after, before)
    }

    /// Gives up the frames before `timestamp`; returns their number.
    pub(super) fn abandon_before(&mut self, buffer: &mut PacketBuffer, timestamp: u64) -> u64 {
        let mut abandoned = 0;
        while let Some((_, partial)) = self.partials.pop_first_if(|t, _| *t < timestamp) {
            partial.discard(buffer);
            abandoned += 1;
        }
        abandoned
    }

    /// Gives up the frames whose packets have left the ring; returns their number.
    pub(super) fn abandon_overwritten(&mut self, buffer: &mut PacketBuffer) -> u64 {
        let oldest = buffer.oldest();
        let mut abandoned = 0;
        while let Some((_, partial)) = self.partials.pop_first_if(|_, p| p.lowest < oldest) {
            partial.discard(buffer);
            abandoned += 1;
        }
        abandoned
    }

    /// Gives up the oldest frames above the limit; returns their number.
    pub(super) fn bound(&mut self, buffer: &mut PacketBuffer) -> u64 {
        let mut abandoned = 0;
        while self.partials.len() > MAX_PARTIALS {
            if let Some((_, partial)) = self.partials.pop_first_if(|_, _| true) {
                partial.discard(buffer);
                abandoned += 1;
            }
        }
        abandoned
    }

    /// Forgets all incomplete frames, but not their packets; returns their number.
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
    fn new(sequence: u64, info: PictureNumbers, now: Instant) -> Partial {
        Partial {
            first: None,
            last: None,
            lowest: sequence,
            highest: sequence,
            info,
            keyframe: false,
            is_delta: false,
            last_arrival: now,
            count: 0,
            intra: false,
            sequence_parameters: false,
            picture_parameters: false,
            lowest_start: Start::Never,
            begins_at: None,
        }
    }

    fn add(&mut self, now: Instant, packet: &ReceivedPacket<'_>, piece: &PieceInfo) {
        let sequence = packet.sequence;
        match piece.start {
            Start::Certain => self.first = Some(sequence),
            Start::Likely => {
                let before = self.begins_at.unwrap_or(sequence);
                self.begins_at = Some(before.min(sequence));
            }
            Start::Possible | Start::Never => {}
        }
        self.keyframe |= piece.is_of_keyframe();
        self.is_delta |= piece.delta;
        self.info.non_reference &= piece.numbers.non_reference;
        self.sequence_parameters |= piece.sequence_parameters;
        self.picture_parameters |= piece.picture_parameters;
        self.intra |= piece.intra;
        if packet.marker {
            self.last = Some(sequence);
        }
        if sequence <= self.lowest {
            self.lowest = sequence;
            self.lowest_start = piece.start;
        }
        self.highest = self.highest.max(sequence);
        self.last_arrival = now;
        self.count += 1;
    }

    /// Marks the lowest packet as the first if it says so, or if the one before it has
    /// arrived, which then belongs to another frame or to none.
    fn find_first(&mut self, buffer: &PacketBuffer) {
        let is_first = self.begins_at == Some(self.lowest)
            || buffer.has_arrived(self.lowest.saturating_sub(1));
        self.first = is_first.then_some(self.lowest);
    }

    fn is_complete(&self) -> bool {
        matches!((self.first, self.last), (Some(first), Some(last))
            if first <= last && self.count == last - first + 1)
    }

    /// Returns whether packets of one timestamp lie outside the frame's first and last
    /// packets.
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

    /// Returns the frame, unless packets of it have left the ring.
    fn read(&self, buffer: &PacketBuffer, timestamp: u64) -> Option<AssembledFrame> {
        let held = (self.lowest..=self.highest).map_while(|s| buffer.held(s));
        let packets: SmallVec<[&Held; 16]> = held.collect();
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

/// Returns each path's share of a frame, in the order of path ids.
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
