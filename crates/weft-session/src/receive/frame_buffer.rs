//! Complete frames in the order of their timestamps, until they are released.

use super::frame_assembly::{AssembledFrame, FrameAssembly};
use super::packet_buffer::PacketBuffer;
use super::references::{Hole, References};
use crate::small_map::SmallMap;

/// Most frames that may wait; chosen by us: two seconds of 60 Hz.
pub(super) const MAX_FRAMES: usize = 128;

#[derive(Debug, Default)]
pub(super) struct FrameBuffer {
    frames: SmallMap<u64, AssembledFrame>,
    references: References,
    bytes: usize,
}

impl FrameBuffer {
    /// Adds a frame that is newer than the last released one. Returns false if its
    /// timestamp is taken.
    pub(super) fn insert(&mut self, frame: AssembledFrame) -> bool {
        if self.frames.get(&frame.timestamp).is_some() {
            return false;
        }
        self.bytes += frame.data.len();
        self.frames.insert(frame.timestamp, frame);
        true
    }

    /// Returns the timestamp of the oldest frame that can be decoded next, even if frames
    /// are skipped for it, and the hole before it.
    pub(super) fn next(
        &self,
        assembly: &FrameAssembly,
        packets: &PacketBuffer,
    ) -> Option<(u64, Hole)> {
        let Some((released, sequence)) = self.references.last() else {
            let first = self.frames.values().find(|f| f.keyframe)?;
            return Some((first.timestamp, Hole::default()));
        };
        let mut skipped = Hole::default();
        let mut previous = released;
        for frame in self.frames.values() {
            for partial in assembly.between(previous, frame.timestamp) {
                skipped.add(&partial.info);
            }
            let mut hole = skipped.clone();
            hole.unknown = self.is_unknown(frame, (released, sequence), assembly, packets);
            if self.references.is_decodable(frame, &hole) {
                return Some((frame.timestamp, hole));
            }
            skipped.add(&frame.info);
            previous = frame.timestamp;
        }
        None
    }

    /// Removes the frame to release and drops the older ones. The second result is the
    /// number of skipped frames: those dropped here, or more if picture numbers show it.
    pub(super) fn release(
        &mut self,
        timestamp: u64,
        hole: &Hole,
        partials: u64,
    ) -> Option<(AssembledFrame, u64)> {
        let mut known = partials;
        while let Some((_, older)) = self.frames.pop_first_if(|t, _| *t < timestamp) {
            self.bytes -= older.data.len();
            known += 1;
        }
        let frame = self.frames.remove(&timestamp)?;
        self.bytes -= frame.data.len();
        let counted = self.references.on_released(&frame, hole);
        Some((frame, known.max(counted)))
    }

    /// Drops the oldest frames above this limit, or above [`MAX_FRAMES`]; returns their
    /// number.
    pub(super) fn bound(&mut self, most: Option<usize>) -> u64 {
        let mut dropped = 0;
        while self.frames.len() > most.unwrap_or(MAX_FRAMES) {
            if let Some((_, frame)) = self.frames.pop_first_if(|_, _| true) {
                self.bytes -= frame.data.len();
                dropped += 1;
            }
        }
        dropped
    }

    /// Drops every waiting frame; returns their number.
    pub(super) fn clear(&mut self) -> u64 {
        self.bytes = 0;
        std::mem::take(&mut self.frames).len() as u64
    }

    /// Returns the extended timestamp and last sequence number of the last release.
    pub(super) fn released(&self) -> Option<(u64, u64)> {
        self.references.last()
    }

    pub(super) fn oldest(&self) -> Option<&AssembledFrame> {
        self.frames.values().next()
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Returns the number of payload bytes held.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns whether a sequence number between the last release and `frame` is missing
    /// and belongs to no partially received frame.
    fn is_unknown(
        &self,
        frame: &AssembledFrame,
        (released, sequence): (u64, u64),
        assembly: &FrameAssembly,
        packets: &PacketBuffer,
    ) -> bool {
        let within = |missing: u64| {
            assembly.between(released, frame.timestamp).any(
                |p| matches!((p.first, p.last), (Some(a), Some(b)) if a < missing && missing < b),
            )
        };
        packets
            .missing_between(sequence, frame.first_sequence)
            .any(|missing| !within(missing))
    }
}
